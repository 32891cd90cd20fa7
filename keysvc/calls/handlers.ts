import type { Api } from '../../protocol/key-service/routes.ts';
import type { Handler } from './call.ts';
import { createKey } from './create-key.ts';
import { bulkDecrypt, decrypt } from './decrypt.ts';
import { deleteKey } from './delete-key.ts';
import { describeKey } from './describe-key.ts';
import { describeSelf } from './describe-self.ts';
import { encrypt } from './encrypt.ts';
import { generateKey } from './generate-key.ts';
import { hmac } from './hmac.ts';
import { describeIdentity, listIdentities } from './identities.ts';
import { importKey } from './import-key.ts';
import { listApis } from './list-apis.ts';
import { listKeys } from './list-keys.ts';
import { auditStream, errorStream } from './log-streams.ts';
import { metrics } from './metrics.ts';
import { describePolicy, listPolicies, readPolicy } from './policies.ts';
import { rotateKey } from './rotate-key.ts';
import { ready, status, version } from './status.ts';

/** Who answers which call. */
export const handlers: Readonly<Record<Api, Handler>> = {
  version,
  ready,
  status,
  metrics,
  api: listApis,
  'key-create': createKey,
  'key-import': importKey,
  'key-rotate': rotateKey,
  'key-describe': describeKey,
  'key-delete': deleteKey,
  'key-list': listKeys,
  'key-generate': generateKey,
  'key-encrypt': encrypt,
  'key-decrypt': decrypt,
  'key-bulk-decrypt': bulkDecrypt,
  'key-hmac': hmac,
  'policy-describe': describePolicy,
  'policy-read': readPolicy,
  'policy-list': listPolicies,
  'identity-describe': describeIdentity,
  'identity-describe-self': describeSelf,
  'identity-list': listIdentities,
  'log-audit': auditStream,
  'log-error': errorStream,
};
