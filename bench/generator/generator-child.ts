/** The process of the generator, so that its event loop does nothing else. */
import { loadsNamed } from '../loads/loads.ts';
import { Objects, writeOver, bodiesOf } from '../loads/objects.ts';
import type { GeneratorAnswer, GeneratorRequest } from './generator-process.ts';
import { makeBucket, RoundInProgress } from './session.ts';

let current: RoundInProgress | undefined;

async function answer(request: GeneratorRequest): Promise<GeneratorAnswer> {
  switch (request.kind) {
    case 'make-bucket':
      await makeBucket(request.endpoint, request.settings);
      return { kind: 'done' };
    case 'fill':
      await writeOver(
        request.endpoint,
        new Objects(request.prefix, request.objects, bodiesOf(request.bytes)),
        request.writes,
        request.connections,
      );
      return { kind: 'done' };
    case 'prepare': {
      const [load] = loadsNamed([request.load]);
      if (load === undefined) throw new Error(`no load is named "${request.load}"`);
      current = await RoundInProgress.prepare(load, request.round);
      return { kind: 'done' };
    }
    case 'run':
      if (current === undefined) throw new Error('no round was prepared');
      return { kind: 'measured', measured: await current.run() };
    case 'finish':
      await current?.finish();
      current = undefined;
      return { kind: 'done' };
  }
}

async function answerOrFail(request: GeneratorRequest): Promise<GeneratorAnswer> {
  try {
    return await answer(request);
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

async function reply(request: GeneratorRequest): Promise<void> {
  process.send?.(await answerOrFail(request));
}

process.on('message', (message) => void reply(message as GeneratorRequest));
process.on('disconnect', () => process.exit());
