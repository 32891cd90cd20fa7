import {
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketVersioningCommand,
  ListBucketsCommand,
} from '@aws-sdk/client-s3';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import type { Hands } from './hands.ts';
import type { Job, JobContext } from './job.ts';
import { answer, button, field, link } from './page-parts.ts';
import { bucket, group, policy, policyDocument, user, userSecret, userWithPolicy, versions } from './prepare.ts';

/** Opens the settings of the bucket of the job. */
async function settings(hands: Hands, context: JobContext): Promise<void> {
  await hands.press(link(context, context.id));
  await hands.press(link(context, 'Settings'));
}

/** Opens the page of the user, the group or the policy of the job. */
async function open(hands: Hands, context: JobContext, list: string): Promise<void> {
  await hands.press(link(context, list));
  await hands.press(link(context, context.id));
}

const aboutUser = ({ admin, id }: JobContext) => admin('GET', `user-info?accessKey=${id}`);

export const administratorJobs: readonly Job[] = [
  {
    title: 'Create a user',
    async work(hands, context) {
      await hands.press(link(context, 'Users'));
      await hands.press(button(context, 'Create user').first());
      await hands.type(field(context, 'Name'), context.id);
      await hands.press(answer(context, 'Create user'));
      await hands.press(answer(context, 'I have kept it'));
    },
    check: async (context) => expect(await aboutUser(context)).toMatchObject({ status: 'enabled' }),
  },
  {
    title: 'Disable a user',
    prepare: user,
    async work(hands, context) {
      await open(hands, context, 'Users');
      await hands.choose(button(context, 'More'), 'Disable');
    },
    check: async (context) => expect(await aboutUser(context)).toMatchObject({ status: 'disabled' }),
  },
  {
    title: 'Delete a user',
    prepare: user,
    async work(hands, context) {
      await open(hands, context, 'Users');
      await hands.choose(button(context, 'More'), 'Delete user…');
      await hands.press(answer(context, 'Delete user'));
    },
    check: async ({ admin, id }) => expect(await admin('GET', 'list-users')).not.toHaveProperty(id),
  },
  {
    title: 'Give a user a new secret key',
    prepare: user,
    async work(hands, context) {
      await open(hands, context, 'Users');
      await hands.choose(button(context, 'More'), 'New secret key…');
      await hands.press(answer(context, 'Replace secret key'));
      await hands.press(answer(context, 'I have kept it'));
    },
    async check({ endpoint, id }) {
      const before = s3Client({ s3: endpoint, accessKey: id, secretKey: userSecret });
      await expect(before.send(new ListBucketsCommand({}))).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
    },
  },
  {
    title: 'Create a group',
    async work(hands, context) {
      await hands.press(link(context, 'Groups'));
      await hands.press(button(context, 'Create group').first());
      await hands.type(field(context, 'Name'), context.id);
      await hands.press(answer(context, 'Create group'));
    },
    check: async ({ admin, id }) => expect(await admin('GET', 'groups')).toContain(id),
  },
  {
    title: 'Delete a group',
    prepare: group,
    async work(hands, context) {
      await open(hands, context, 'Groups');
      await hands.choose(button(context, 'More'), 'Delete group…');
      await hands.press(answer(context, 'Delete group'));
    },
    check: async ({ admin, id }) => expect(await admin('GET', 'groups')).not.toContain(id),
  },
  {
    title: 'Write a policy',
    async work(hands, context) {
      await hands.press(link(context, 'Policies'));
      await hands.press(link(context, 'Create policy'));
      await hands.type(field(context, 'Name'), context.id);
      await hands.type(context.page.getByRole('textbox', { name: 'Document' }), JSON.stringify(policyDocument));
      await hands.press(button(context, 'Save policy'));
      await context.page.getByRole('heading', { name: context.id }).waitFor();
    },
    check: async ({ admin, id }) =>
      expect(await admin('GET', `info-canned-policy?name=${id}`)).toMatchObject(policyDocument),
  },
  {
    title: 'Delete a policy',
    prepare: policy,
    async work(hands, context) {
      await open(hands, context, 'Policies');
      await hands.press(button(context, 'Delete…'));
      await hands.press(answer(context, 'Delete policy'));
    },
    check: async ({ admin, id }) => expect(await admin('GET', 'list-canned-policies')).not.toHaveProperty(id),
  },
  {
    title: 'Take a policy away from a user',
    prepare: userWithPolicy,
    async work(hands, context) {
      await open(hands, context, 'Policies');
      await hands.tab(context.page.getByRole('tab', { name: 'Attached to (1)' }));
      await hands.press(button(context, `Detach from the user ${context.id}`));
    },
    check: async (context) =>
      expect((await aboutUser(context)) as object).not.toMatchObject({ policyName: context.id }),
  },
  {
    title: 'Ask why a user may do something',
    prepare: userWithPolicy,
    async work(hands, context) {
      await hands.press(link(context, 'Explain'));
      await hands.type(field(context, 'User or access key'), context.id);
      await hands.type(field(context, 'Action'), 's3:GetObject');
      await hands.type(field(context, 'Resource'), 'photos/1.jpg');
      await hands.press(context.page.getByRole('main').getByRole('button', { name: 'Explain', exact: true }));
      await context.page.getByText(`${context.id}: allowed`).waitFor();
    },
    check: async (context) => expect(await aboutUser(context)).toMatchObject({ policyName: context.id }),
  },
  {
    title: 'Keep versions in a bucket',
    prepare: bucket,
    async work(hands, context) {
      await settings(hands, context);
      await hands.press(context.page.getByRole('switch', { name: 'Keep versions' }));
    },
    check: async ({ s3, id }) =>
      expect(await s3.send(new GetBucketVersioningCommand({ Bucket: id }))).toMatchObject({ Status: 'Enabled' }),
  },
  {
    title: 'Limit the size of a bucket',
    prepare: bucket,
    async work(hands, context) {
      await settings(hands, context);
      await hands.press(button(context, 'Edit the quota'));
      await hands.type(field(context, 'At most'), '5');
      await hands.press(answer(context, 'Save quota'));
    },
    check: async ({ admin, id }) =>
      expect(await admin('GET', `get-bucket-quota?bucket=${id}`)).toMatchObject({ quota: 5 * 1024 ** 3 }),
  },
  {
    title: 'Let objects expire',
    prepare: bucket,
    async work(hands, context) {
      await settings(hands, context);
      await hands.press(button(context, 'Add a rule'));
      await hands.type(field(context, 'Delete objects after'), '30');
      await hands.press(answer(context, 'Save rule'));
    },
    check: async ({ s3, id }) =>
      expect((await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: id }))).Rules).toMatchObject([
        { Expiration: { Days: 30 } },
      ]),
  },
  {
    title: 'Let old versions go',
    prepare: bucket,
    async work(hands, context) {
      await settings(hands, context);
      await hands.press(button(context, 'Add a rule'));
      await hands.type(field(context, 'Remove old versions after'), '7');
      await hands.press(answer(context, 'Save rule'));
    },
    check: async ({ s3, id }) =>
      expect((await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: id }))).Rules).toMatchObject([
        { NoncurrentVersionExpiration: { NoncurrentDays: 7 } },
      ]),
  },
  {
    title: 'Give a bucket a policy',
    prepare: bucket,
    async work(hands, context) {
      await settings(hands, context);
      await hands.press(button(context, 'Edit the policy'));
      await hands.press(answer(context, 'Save policy'));
    },
    check: ({ s3, id }) => s3.send(new GetBucketPolicyCommand({ Bucket: id })),
  },
  {
    title: 'Keep no more versions in a bucket',
    prepare: versions(),
    async work(hands, context) {
      await settings(hands, context);
      await hands.press(context.page.getByRole('switch', { name: 'Keep versions' }));
    },
    check: async ({ s3, id }) =>
      expect(await s3.send(new GetBucketVersioningCommand({ Bucket: id }))).toMatchObject({ Status: 'Suspended' }),
  },
  {
    title: 'Let unfinished uploads go',
    prepare: bucket,
    async work(hands, context) {
      await settings(hands, context);
      await hands.press(button(context, 'Add a rule'));
      await hands.type(field(context, 'Remove unfinished uploads after'), '7');
      await hands.press(answer(context, 'Save rule'));
    },
    check: async ({ s3, id }) =>
      expect((await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: id }))).Rules).toMatchObject([
        { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 } },
      ]),
  },
  {
    title: 'See whether all is well',
    async work(hands, context) {
      await hands.press(link(context, 'Status'));
      await context.page.getByText(/All is well|It works, with/).waitFor();
    },
    check: async ({ admin }) => expect(await admin('GET', 'info')).toMatchObject({ mode: 'online' }),
  },
  {
    title: 'Save all identities in an archive',
    prepare: user,
    async work(hands, context) {
      await hands.press(link(context, 'Users'));
      const download = context.page.waitForEvent('download');
      await hands.choose(button(context, 'All identities'), 'Export as an archive');
      expect((await readFile(await (await download).path())).subarray(0, 2).toString()).toBe('PK');
    },
    check: aboutUser,
  },
  {
    title: 'Verify the store',
    async work(hands, context) {
      await hands.press(link(context, 'Background work'));
      await hands.press(button(context, 'Verify the store'));
      await context.page.getByText('Nothing is wrong.').waitFor();
    },
    check: ({ admin }) => admin('GET', 'info'),
  },
];
