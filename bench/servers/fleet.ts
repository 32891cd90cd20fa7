import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/process/free-port.ts';
import { type Checkouts, serverNamed, type ServerName, type ServerProgram } from './server-programs.ts';
import { RunningServer } from './running-server.ts';

/** A server that is installed here. */
export interface Installed {
  readonly program: ServerProgram;
  readonly path: string;
  readonly version: string;
}

interface Found {
  readonly installed: readonly Installed[];
  readonly missing: readonly ServerName[];
}

export function findServers(names: readonly ServerName[], checkouts: Checkouts): Found {
  const looked = names
    .map((name) => serverNamed(name, checkouts))
    .map((program) => ({ program, path: program.find() }));
  return {
    installed: looked.flatMap(({ program, path }) =>
      path === undefined ? [] : [{ program, path, version: program.version(path) }],
    ),
    missing: looked.filter(({ path }) => path === undefined).map(({ program }) => program.name),
  };
}

/** The servers of one run. At most one runs at a time: the others are stopped by a signal. */
export class Fleet {
  readonly servers: ReadonlyMap<ServerName, RunningServer>;

  private constructor(running: ReadonlyMap<ServerName, RunningServer>) {
    this.servers = running;
  }

  /** Starts each server with a new folder below `folder`. Coffer gets `environment`. */
  static async start(found: readonly Installed[], folder: string, environment: NodeJS.ProcessEnv): Promise<Fleet> {
    const running = new Map<ServerName, RunningServer>();
    const fleet = new Fleet(running);
    try {
      for (const { program, path } of found) {
        const own = join(folder, program.name);
        rmSync(own, { recursive: true, force: true });
        mkdirSync(own, { recursive: true });
        const run = { program: path, folder: own, port: await freePort(), secondPort: await freePort() };
        const server = await RunningServer.start(program, run, isCoffer(program.name) ? environment : {});
        running.set(program.name, server);
        server.pause();
      }
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const server of this.servers.values()) await server.stop();
  }
}

function isCoffer(name: ServerName): boolean {
  return name.startsWith('coffer');
}
