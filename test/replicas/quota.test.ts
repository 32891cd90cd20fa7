import { describeQuota } from '../support/server/quota-suite.ts';
import { newDeployment, type Deployment } from './deployment.ts';

let deployment: Deployment;

describeQuota(
  'a quota, over two servers',
  async () => {
    deployment = await newDeployment();
    return Promise.all([deployment.start(), deployment.start()]);
  },
  () => deployment.remove(),
);
