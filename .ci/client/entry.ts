// The first module of the npm package (bundle.js): it runs on the machine's Node, which may be 20.
import './node-20.ts';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// In a folder of the user: what is in it runs. Node 20 has no compile cache.
const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'coffer', 'compile');
(module as { readonly enableCompileCache?: typeof module.enableCompileCache }).enableCompileCache?.(cache);
await import('../../cli/main.ts');
