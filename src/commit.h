/* commit: the commit of the tree that was built, by scripts/commit; or "unknown". */
#ifndef COMMIT_H
#define COMMIT_H

extern const char commit[];

#endif
