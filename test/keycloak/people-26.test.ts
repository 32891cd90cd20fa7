import { describePeople } from './people.ts';

describePeople('26.4.0');
