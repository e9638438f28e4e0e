/* A model of plans for groups (src/extender/gangs): two groups of three members, of which only one fits
 * at a time, and two leaders in turn. Checked by spin: tests/sim/check-model.
 *
 * A leader looks at its ledger, chooses and keeps places there under one lock (atomic), and drops a plan at its
 * deadline or when it was displaced. It sees no places of the other, and forgets its own once another leads:
 * before it leads again, as a Lease lasts longer than a tick. kube-scheduler posts a member only with a place,
 * by the leader. A thief of higher priority takes kept places.
 */
#define GROUPS 2
#define SIZE 3
#define ROOM 4 /* slots of the cluster: one group, and not two */

byte bound[GROUPS], pauses[GROUPS];
byte kept[4];           /* of leader l for group g: at l * GROUPS + g */
bool was_displaced[4];
bool may_plan[GROUPS];  /* not in its pause */
byte stolen;            /* slots that the thief has */
byte leader;            /* 0 or 1 */
byte changes, thefts;   /* bounds of the model */

#define AT(l, g) (l) * GROUPS + (g)

/* Mistakes that must be found: check-model has their names. */
#ifdef PART_PLANNED
#define PLACES(g) 1
#else
#define PLACES(g) (SIZE - bound[g])
#endif
#ifdef ROOM_NOT_JUDGED
#define HAS_ROOM(l, g) true
#else
#define HAS_ROOM(l, g) (used(l) + SIZE - bound[g] <= ROOM)
#endif
#ifdef FOLLOWER_POSTS
#define MAY_POST(l) true
#else
#define MAY_POST(l) (leader == l)
#endif
#ifdef FOLLOWER_KEEPS
#define HAS_FORGOTTEN(l) true
#else
#define HAS_FORGOTTEN(l) (kept[AT(l, 0)] + kept[AT(l, 1)] == 0)
#endif
#ifdef DISPLACED_POSTS
#define HAS_PLACE(l, g) (kept[AT(l, g)] > 0)
#else
#define HAS_PLACE(l, g) (kept[AT(l, g)] > 0 && !was_displaced[AT(l, g)])
#endif

#define used(l) (bound[0] + bound[1] + kept[AT(l, 0)] + kept[AT(l, 1)] + stolen)

/* What must always hold: no slot is given twice; a plan is whole. */
#define IS_SOUND (bound[0] + bound[1] + stolen <= ROOM)
#define IS_WHOLE(g) \
    (kept[AT(leader, g)] == 0 || bound[g] + kept[AT(leader, g)] == SIZE || was_displaced[AT(leader, g)])
/* A group began before it had a whole plan. */
bool began_early;

inline drop(l, g)
{
    kept[AT(l, g)] = 0;
    was_displaced[AT(l, g)] = false
}

/* The tick of a leader, or of one that was, for one group. */
proctype tick(byte me; byte g)
{
end_tick:
    do
    :: atomic { leader == me && was_displaced[AT(me, g)] -> drop(me, g) }
    :: atomic { leader == me && kept[AT(me, g)] == 0 && bound[g] < SIZE && may_plan[g] && HAS_ROOM(me, g) ->
        kept[AT(me, g)] = PLACES(g) }
    :: atomic { leader != me && kept[AT(me, g)] > 0 -> drop(me, g) }
    /* The deadline: the group loses its turn. */
    :: atomic { leader == me && kept[AT(me, g)] > 0 && bound[g] + kept[AT(me, g)] == SIZE && pauses[g] < 2 ->
        drop(me, g); may_plan[g] = false; pauses[g]++ }
    od
}

/* kube-scheduler offers the places of a group. */
proctype posts(byte l; byte g)
{
end_posts:
    do
    :: atomic { MAY_POST(l) && HAS_PLACE(l, g) ->
        if
        :: bound[g] == 0 && kept[AT(l, g)] != SIZE -> began_early = true
        :: else
        fi;
        kept[AT(l, g)]--;
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

/* Another leads. What is bound stays. */
proctype takeover()
{
end_takeover:
    do
    :: atomic { changes < 2 && HAS_FORGOTTEN(1 - leader) -> changes++; leader = 1 - leader }
    :: changes == 2 -> break
    od
}

/* Pods of higher priority take two slots, kept or free, and end. */
proctype thief()
{
end_thief:
    do
    :: atomic { thefts < 1 && bound[0] + bound[1] + 2 <= ROOM ->
        thefts++; stolen = 2;
        if
        :: used(leader) > ROOM && kept[AT(leader, 0)] > 0 -> was_displaced[AT(leader, 0)] = true
        :: used(leader) > ROOM && kept[AT(leader, 1)] > 0 -> was_displaced[AT(leader, 1)] = true
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
        run posts(0, 0); run posts(0, 1); run posts(1, 0); run posts(1, 1);
        run time(0); run time(1);
        run takeover(); run thief()
    }
}

/* Of two groups that fit one at a time, one runs. With weak fairness. */
ltl one_runs { <> (bound[0] == SIZE || bound[1] == SIZE) }
