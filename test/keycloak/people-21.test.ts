import { describePeople } from './people.ts';

describePeople('21.0.0');
