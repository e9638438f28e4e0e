/* A model of plans for groups (src/extender/gangs): two groups of three members, of which only one fits
 * at a time, and two leaders in turn. Checked by spin: tests/sim/check-model.
 *
 * A leader looks at the ledger, chooses and keeps places under one lock (atomic), drops a plan at its deadline
 * or when it was displaced, and loses everything that it keeps when another leads. kube-scheduler posts a
 * member only with a place. A thief of higher priority takes a kept place.
 */
#define GROUPS 2
#define SIZE 3
#define ROOM 4 /* slots of the cluster: one group, and not two */

byte bound[GROUPS], kept[GROUPS], pauses[GROUPS];
bool may_plan[GROUPS];  /* not in its pause */
byte stolen;            /* slots that the thief has */
byte leader;            /* 0 or 1 */
byte changes, thefts;   /* bounds of the model */

/* Two mistakes that must be found. */
#ifdef PART_PLANNED
#define PLACES(g) 1
#else
#define PLACES(g) (SIZE - bound[g])
#endif
#ifdef ROOM_NOT_JUDGED
#define HAS_ROOM(g) true
#else
#define HAS_ROOM(g) (used + SIZE - bound[g] <= ROOM)
#endif

#define used (bound[0] + bound[1] + kept[0] + kept[1] + stolen)
#define held (kept[0] + kept[1])

/* What must always hold: no slot is given twice; a plan is whole. */
#define IS_SOUND (bound[0] + bound[1] + stolen <= ROOM)
#define IS_WHOLE(g) (kept[g] == 0 || bound[g] + kept[g] == SIZE || was_displaced[g])
bool was_displaced[GROUPS];
/* A group began before it had a whole plan. */
bool began_early;

inline drop(g)
{
    kept[g] = 0;
    was_displaced[g] = false
}

/* The tick of a leader for one group. */
proctype tick(byte me; byte g)
{
end_tick:
    do
    :: atomic { leader == me && was_displaced[g] -> drop(g) }
    :: atomic { leader == me && kept[g] == 0 && bound[g] < SIZE && may_plan[g] && HAS_ROOM(g) ->
        kept[g] = PLACES(g) }
    /* The deadline: the group loses its turn. */
    :: atomic { leader == me && kept[g] > 0 && bound[g] + kept[g] == SIZE && pauses[g] < 2 ->
        drop(g); may_plan[g] = false; pauses[g]++ }
    od
}

/* kube-scheduler offers the places of a group. */
proctype posts(byte g)
{
end_posts:
    do
    :: atomic { kept[g] > 0 && !was_displaced[g] ->
        if
        :: bound[g] == 0 && kept[g] != SIZE -> began_early = true
        :: else
        fi;
        kept[g]--;
        bound[g]++ }
    od
}

/* The end of a pause; a group that runs ends, so that the other may. */
proctype time(byte g)
{
end_time:
    do
    :: atomic { !may_plan[g] -> may_plan[g] = true }
    :: atomic { bound[g] == SIZE && bound[1 - g] < SIZE -> bound[g] = 0; goto done }
    od;
done:
    skip
}

/* Another leads: its ledger has no places. What is bound stays. */
proctype takeover()
{
end_takeover:
    do
    :: atomic { changes < 2 -> changes++; leader = 1 - leader; drop(0); drop(1) }
    :: changes == 2 -> break
    od
}

/* A pod of higher priority takes a slot, kept or free, and ends. */
proctype thief()
{
end_thief:
    do
    :: atomic { thefts < 1 && bound[0] + bound[1] < ROOM ->
        thefts++; stolen = 1;
        if
        :: used > ROOM && kept[0] > 0 -> was_displaced[0] = true
        :: used > ROOM && kept[1] > 0 -> was_displaced[1] = true
        :: else
        fi }
    :: atomic { stolen > 0 -> stolen = 0 }
    :: thefts == 1 && stolen == 0 -> break
    od
}

active proctype monitor()
{
end_monitor:
    do
    :: atomic { !(IS_SOUND && IS_WHOLE(0) && IS_WHOLE(1) && !began_early) -> assert(false) }
    od
}

init
{
    atomic {
        may_plan[0] = true;
        may_plan[1] = true;
        run tick(0, 0); run tick(0, 1); run tick(1, 0); run tick(1, 1);
        run posts(0); run posts(1);
        run time(0); run time(1);
        run takeover(); run thief()
    }
}

/* Of two groups that fit one at a time, one runs. With weak fairness. */
ltl one_runs { <> (bound[0] == SIZE || bound[1] == SIZE) }
