import { accessKeys } from './access-keys.ts';
import { batch } from './batch.ts';
import { bucketSettings } from './bucket-settings.ts';
import { buckets } from './buckets.ts';
import { configuration } from './configuration.ts';
import { explain } from './explain.ts';
import { keys } from './keys.ts';
import { lifecycle } from './lifecycle.ts';
import { objectDetails } from './object-details.ts';
import { objects } from './objects.ts';
import { operations } from './operations.ts';
import { policies } from './policies.ts';
import { providers } from './providers.ts';
import { replication } from './replication.ts';
import { tiers } from './tiers.ts';
import { uploads } from './uploads.ts';
import { users } from './users.ts';
import { work } from './work.ts';

export const pages = {
  accessKeys,
  batch,
  bucketSettings,
  buckets,
  configuration,
  explain,
  keys,
  lifecycle,
  objectDetails,
  objects,
  operations,
  policies,
  providers,
  replication,
  tiers,
  uploads,
  users,
  work,
} as const;
