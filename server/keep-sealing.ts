import type { Logger } from '../platform/logger.ts';
import { noKeySource } from './encryption/no-key-source.ts';
import type { ReplicasView } from './replicas/replicas.ts';
import type { Services } from './services.ts';

export interface Sealing {
  /** Opens the sealed records, and turns sealing on where every server has the key service. */
  start(view: ReplicasView): Promise<void>;
  /** Turns it on once that is so. */
  look(view: ReplicasView): void;
}

/**
 * Sealing begins when every server that is there has the key service: one without could not read what the others seal, and while
 * servers are replaced one by one some have it before others. What one turns on, the others notice by themselves.
 */
export function keepSealing({ keys, sealed }: Pick<Services, 'keys' | 'sealed'>, log: Logger): Sealing {
  let turning = false;
  let waits = false;

  async function turnOn(): Promise<void> {
    turning = true;
    try {
      await sealed.start({ turnOn: true });
      log.info({ event: 'sealing' }, 'identities and settings are sealed: every server has the key service');
    } catch (error) {
      log.warn({ err: error }, 'identities and settings could not be sealed yet');
    } finally {
      turning = false;
    }
  }

  return {
    async start(view) {
      const everyone = view.live.every(({ keyService }) => keyService);
      await sealed.start({ turnOn: everyone });
      waits = keys !== noKeySource && !sealed.sealing;
      if (!waits) return;
      const without = view.live.filter(({ keyService }) => !keyService).map(({ endpoint }) => endpoint);
      log.info(
        { without },
        `identities and settings stay plain until these servers have the key service: ${without.join(', ')}`,
      );
    },
    look({ leads, live }) {
      if (waits && !turning && !sealed.sealing && leads && live.every(({ keyService }) => keyService)) void turnOn();
    },
  };
}
