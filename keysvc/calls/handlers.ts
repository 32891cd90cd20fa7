import type { Api } from '../../protocol/key-service/routes.ts';
import type { Handler } from './call.ts';
import { createKey } from './create-key.ts';
import { bulkDecrypt, decrypt } from './decrypt.ts';
import { deleteKey } from './delete-key.ts';
import { describeKey } from './describe-key.ts';
import { describeSelf } from './describe-self.ts';
import { encrypt } from './encrypt.ts';
import { generateKey } from './generate-key.ts';
import { listKeys } from './list-keys.ts';
import { ready, status, version } from './status.ts';

/** Who answers which call. */
export const handlers: Readonly<Record<Api, Handler>> = {
  version,
  ready,
  status,
  'key-create': createKey,
  'key-describe': describeKey,
  'key-delete': deleteKey,
  'key-list': listKeys,
  'key-generate': generateKey,
  'key-encrypt': encrypt,
  'key-decrypt': decrypt,
  'key-bulk-decrypt': bulkDecrypt,
  'identity-describe-self': describeSelf,
};
