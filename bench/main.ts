/** `npm run bench` measures Coffer, MinIO and versitygw. docs/benchmarks.md explains its method and its figures. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Benchmark } from './benchmark.ts';
import { Fleet, findServers } from './servers/fleet.ts';
import { GeneratorProcess } from './generator/generator-process.ts';
import { describeMachine, isInMemory } from './machine/machine.ts';
import { deviceCounters } from './machine/device-counters.ts';
import { DiskSpeed } from './machine/disk-speed.ts';
import { ProgramError } from '../platform/errors/program-error.ts';
import { type Options, parseOptions, usage } from './options.ts';
import { CofferProfile } from './profile/coffer-profile.ts';
import { render } from './report.ts';
import { startReplica } from './servers/replica.ts';
import { startWebhook } from './servers/webhook.ts';

async function bench(options: Options, args: readonly string[]): Promise<void> {
  const folder = resolve(options.folder ?? '.coffer/bench');
  mkdirSync(folder, { recursive: true });
  if (isInMemory(folder))
    throw new ProgramError('usage', `${folder} is in memory: name a folder on a disk with --folder`);
  const { installed, missing } = findServers(options.servers, options);
  for (const name of missing) say(`${name} is not installed: it is left out. "npm run bench:peers" installs it.`);

  const disk = options.disk ? await openDisk(folder) : undefined;
  const profile = options.profile ? new CofferProfile(resolve('.coffer/bench-profile')) : undefined;
  const webhook = options.webhook ? await startWebhook() : undefined;
  const replica = options.replication ? await startReplica() : undefined;
  const fleet = await Fleet.start(installed, folder, { ...profile?.environment, ...webhook?.environment });
  const generator = new GeneratorProcess();
  const benchmark = new Benchmark({ options, fleet, generator, say, profile, disk, replica: replica?.endpoint });
  try {
    await benchmark.run();
  } finally {
    generator.stop();
    await benchmark.stop();
    webhook?.stop();
    disk?.remove();
    await replica?.stop();
    for (const { program } of installed) rmSync(join(folder, program.name), { recursive: true, force: true });
  }
  const report = render({
    date: new Date(),
    machine: describeMachine(folder),
    arguments: args,
    rounds: options.rounds,
    seconds: options.seconds,
    quick: options.quick,
    versioned: options.versioned,
    installed,
    missing,
    ...benchmark.results(),
  });
  say(`\n${report}`);
  if (webhook !== undefined) say(`the webhook got ${webhook.count()} events`);
  if (options.out !== undefined) writeFileSync(options.out, report);
  if (profile !== undefined) say(`profiles: ${profile.folder}`);
}

/** Says why the disk is left out where it cannot be measured. */
async function openDisk(folder: string): Promise<DiskSpeed | undefined> {
  if (deviceCounters(folder) === undefined) {
    say(`the flushes of the disk of ${folder} are not counted by this system: the disk is left out.`);
    return undefined;
  }
  const disk = await DiskSpeed.open(folder);
  if (disk === undefined) say('fio is not installed: the disk is left out. "bash .ci/install fio" installs it.');
  return disk;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  const args = process.argv.slice(2);
  if (args.includes('--help')) say(usage);
  else await bench(parseOptions(args), args);
} catch (error) {
  if (error instanceof ProgramError && error.code === 'usage') process.stderr.write(`${error.message}\n${usage}\n`);
  else
    process.stderr.write(
      `the benchmark failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  process.exitCode = 1;
}
