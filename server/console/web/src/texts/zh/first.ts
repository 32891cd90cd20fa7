import { common } from './common.ts';
import { components } from './components.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';

export const first = { common, components, shell, signIn } as const;
