import { createBucketController } from './bucket/bucket-controller.ts';
import type { ControllerOptions } from './create-controller.ts';
import type { ManagedControllers } from './controller.ts';
import { createAccessKeyController } from './access-key-controller.ts';
import { createBindingController } from './binding-controller.ts';
import { createPolicyController } from './policy-controller.ts';
import { createUserController } from './user-controller.ts';

/** One controller for each kind of what is in tenants' servers. */
export function createControllers(options: ControllerOptions = {}): ManagedControllers {
  return {
    Bucket: createBucketController(options),
    Policy: createPolicyController(options),
    PolicyBinding: createBindingController(options),
    User: createUserController(options),
    AccessKey: createAccessKeyController(options),
  };
}
