import type { TestProject } from 'vitest/node';
import { startKeycloak } from './start-keycloak.ts';
import type { KeycloakVersion } from './start-keycloak.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of each. */
    readonly keycloaks: Readonly<Record<KeycloakVersion, string>>;
  }
}

/** One Keycloak of each version for the whole tier, with a realm for each file. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const people = new URL('../../examples/keycloak/realm.json', import.meta.url);
  const coffer = new URL('realm.json', import.meta.url);
  const starting = [
    startKeycloak({ realms: { coffer, people } }),
    startKeycloak({ version: '21.0.0', realms: { people } }),
  ];
  const stop = async () => {
    for (const started of await Promise.allSettled(starting))
      if (started.status === 'fulfilled') await started.value.stop();
  };
  try {
    const [today, former] = await Promise.all(starting);
    project.provide('keycloaks', { '26.4.0': today?.url ?? '', '21.0.0': former?.url ?? '' });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
