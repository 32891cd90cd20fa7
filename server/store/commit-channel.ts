import { channel } from 'node:diagnostics_channel';

/**
 * LMDB and PostgreSQL publish each batch here before they commit it. The tests subscribe, and fail on a commit that crosses places and is not on the
 * list (`places.ts`). A server has no subscriber: then a commit reads one field.
 */
export const commitChannel = channel('coffer.store.commit');
