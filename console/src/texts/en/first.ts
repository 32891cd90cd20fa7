import { labels } from './labels.ts';
import { components } from './components.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';

export const first = { labels, components, shell, signIn } as const;
