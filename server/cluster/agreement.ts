import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';

/** The settings that all servers of a deployment must share. */
export interface SharedSettings {
  readonly root: RootPair;
  /** The root credentials before a rotation. Servers that have only these are replaced one by one. */
  readonly formerRoot?: RootPair;
  readonly region: string;
}

interface RootPair {
  readonly user: string;
  readonly password: string;
}

/**
 * The shared settings as a server publishes them: the values that it accepts, by the name of the setting. Secrets are digests. Two servers
 * agree on a setting if they accept a value in common.
 */
export type Agreement = Readonly<Record<string, readonly string[]>>;

/** About 80 ms and 32 MiB for each guess: a reader of the database must not find the password of the root user by its digest. */
const digestCost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };
const digest = promisify<string, string, number, typeof digestCost, Buffer>(scrypt);

/** Returns what this server publishes. The ID of the deployment salts the digests, so that equal passwords of two deployments differ. */
export async function agreementOf(
  { root, formerRoot, region }: SharedSettings,
  deploymentId: string,
): Promise<Agreement> {
  const accepted = async (setting: string, part: keyof RootPair) => {
    const values = new Set([root[part], ...(formerRoot === undefined ? [] : [formerRoot[part]])]);
    const digests: string[] = [];
    // One at a time, because each takes 32 MiB.
    for (const value of values) {
      digests.push((await digest(value, `${deploymentId} ${setting}`, 32, digestCost)).toString('base64'));
    }
    return digests;
  };
  return {
    SVC_ROOT_USER: await accepted('SVC_ROOT_USER', 'user'),
    SVC_ROOT_PASSWORD: await accepted('SVC_ROOT_PASSWORD', 'password'),
    SVC_REGION: [region],
  };
}

/** Returns the settings on which two servers disagree. Servers of an older version publish none, and those of a newer one may publish more. */
export function disagreements(own: Agreement = {}, other: Agreement = {}): readonly string[] {
  return Object.entries(own)
    .filter(([setting, values]) => {
      const others = other[setting];
      return others !== undefined && !values.some((value) => others.includes(value));
    })
    .map(([setting]) => setting);
}
