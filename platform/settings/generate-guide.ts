import { writeFileSync } from 'node:fs';
import { settingsGuide } from './settings-guide.ts';

// `npm run docs` runs this file. It writes docs/guides/settings.md.
writeFileSync(new URL('../../docs/guides/settings.md', import.meta.url), settingsGuide());
