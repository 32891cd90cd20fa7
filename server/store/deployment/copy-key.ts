import { key } from '../keys.ts';

/** There as long as a copy into these records is not finished: no server may start on half of the data. */
export const copyKey = key('system', 'copy');
