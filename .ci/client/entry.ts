// The first module of the npm package (bundle.js): it runs on the machine's Node, which may be 20.
import './node-20.ts';
import { enableCompileCache } from './compile-cache.ts';

enableCompileCache();
void import('../../cli/main.ts');
