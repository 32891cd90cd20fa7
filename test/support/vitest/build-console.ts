import { buildConsole, consoleIsBuilt } from '../../../console/build.ts';

/** Builds the console for the tier `browser`, where an installation has not. */
export default async function buildForBrowser(): Promise<void> {
  if (!consoleIsBuilt()) await buildConsole();
}
