import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const programs = Object.keys(packageJson.bin);

function run(program: string, argument: string, output: 'pipe' | number) {
  const script = fileURLToPath(new URL(`../../bin/${program}.js`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, argument], {
    stdio: ['ignore', output, 'pipe'],
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe.each(programs)('%s', (program) => {
  it('says its name and its version', () => {
    const said = { status: 0, stdout: `${program} ${packageJson.version}\n`, stderr: '' };
    expect(run(program, '--version', 'pipe')).toEqual(said);
    expect(run(program, '-v', 'pipe')).toEqual(said);
  });

  // Only Linux has this device, on which every write fails.
  it.skipIf(!existsSync('/dev/full')).each(['--version', '--help'])(
    'fails with the reason if the output of %s cannot be written',
    (argument) => {
      const full = openSync('/dev/full', 'w');
      try {
        const { status, stderr } = run(program, argument, full);
        expect({ status, stderr }).toEqual({
          status: 1,
          stderr: `${program}: standard output cannot be written: no space is left on the device\n`,
        });
      } finally {
        closeSync(full);
      }
    },
  );
});
