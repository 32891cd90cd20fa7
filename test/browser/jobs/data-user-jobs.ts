import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import type { Job, JobContext } from './job.ts';

/** A bucket with objects, whose bodies are their keys. */
async function bucket({ s3, id }: JobContext, ...keys: readonly string[]): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket: id }));
  for (const Key of keys)
    await s3.send(new PutObjectCommand({ Bucket: id, Key, Body: Key, ContentType: 'text/plain' }));
}

async function versions({ s3, id }: JobContext, ...bodies: readonly string[]): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket: id }));
  await s3.send(new PutBucketVersioningCommand({ Bucket: id, VersioningConfiguration: { Status: 'Enabled' } }));
  for (const Body of bodies) await s3.send(new PutObjectCommand({ Bucket: id, Key: 'a.txt', Body }));
}

const link = ({ page }: JobContext, name: string) => page.getByRole('link', { name, exact: true });
const button = ({ page }: JobContext, name: string) => page.getByRole('button', { name, exact: true });
const field = ({ page }: JobContext, name: string) => page.getByLabel(name, { exact: true });
const dialog = ({ page }: JobContext) => page.getByRole('dialog');
const send = (context: JobContext, name: string) => dialog(context).getByRole('button', { name, exact: true });
const actions = (context: JobContext, name: string) => button(context, `Actions for ${name}`);
const keysOf = async ({ s3, id }: JobContext) =>
  ((await s3.send(new ListObjectsV2Command({ Bucket: id }))).Contents ?? []).map(({ Key }) => Key);
const textOf = async ({ s3, id }: JobContext, Key: string) =>
  (await s3.send(new GetObjectCommand({ Bucket: id, Key }))).Body?.transformToString();

export const dataUserJobs: readonly Job[] = [
  {
    title: 'Create a bucket',
    async work(hands, context) {
      await hands.press(button(context, 'Create bucket').first());
      await hands.type(field(context, 'Name'), context.id);
      await hands.press(send(context, 'Create bucket'));
    },
    check: ({ s3, id }) => s3.send(new HeadBucketCommand({ Bucket: id })),
  },
  {
    title: 'Delete an empty bucket',
    prepare: (context) => bucket(context),
    async work(hands, context) {
      await hands.choose(actions(context, context.id), 'Delete bucket…');
      await hands.press(send(context, 'Delete bucket'));
    },
    check: async ({ s3, id }) =>
      expect((await s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name)).not.toContain(id),
  },
  {
    title: 'Create a folder',
    prepare: (context) => bucket(context),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.press(button(context, 'Folder…'));
      await hands.type(field(context, 'Name'), 'new');
      await hands.press(send(context, 'Create folder'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['new/']),
  },
  {
    title: 'Upload a file',
    prepare: (context) => bucket(context, 'a.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      const chooser = context.page.waitForEvent('filechooser');
      await hands.choose(button(context, 'Upload'), 'Files…');
      await (await chooser).setFiles(await context.file('up.txt', 'sent'));
    },
    check: async (context) => expect(await textOf(context, 'up.txt')).toBe('sent'),
  },
  {
    title: 'Upload a file over another one',
    prepare: (context) => bucket(context, 'up.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      const chooser = context.page.waitForEvent('filechooser');
      await hands.choose(button(context, 'Upload'), 'Files…');
      await (await chooser).setFiles(await context.file('up.txt', 'newer'));
      await hands.press(button(context, 'Replace'));
    },
    check: async (context) => expect(await textOf(context, 'up.txt')).toBe('newer'),
  },
  {
    title: 'Download an object',
    prepare: (context) => bucket(context, 'a.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      const download = context.page.waitForEvent('download');
      await hands.press(button(context, 'Download a.txt'));
      expect(await readFile(await (await download).path(), 'utf8')).toBe('a.txt');
    },
    check: async (context) => expect(await textOf(context, 'a.txt')).toBe('a.txt'),
  },
  {
    title: 'Download a folder as a zip',
    prepare: (context) => bucket(context, 'f/a.txt', 'f/b.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      const download = context.page.waitForEvent('download');
      await hands.choose(actions(context, 'f/'), 'Download as zip');
      expect((await readFile(await (await download).path())).toString('latin1')).toContain('f/b.txt');
    },
    check: async (context) => expect(await keysOf(context)).toHaveLength(2),
  },
  {
    title: 'Rename an object',
    prepare: (context) => bucket(context, 'a.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.choose(actions(context, 'a.txt'), 'Rename…');
      await hands.type(field(context, 'Name'), 'b.txt');
      await hands.press(send(context, 'Rename'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['b.txt']),
  },
  {
    title: 'Copy an object into a folder',
    prepare: (context) => bucket(context, 'a.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.choose(actions(context, 'a.txt'), 'Copy…');
      await hands.type(field(context, 'Folder').and(context.page.getByRole('textbox')), 'f/');
      await hands.press(send(context, 'Copy'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['a.txt', 'f/a.txt']),
  },
  {
    title: 'Move an object into a folder',
    prepare: (context) => bucket(context, 'a.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.choose(actions(context, 'a.txt'), 'Move…');
      await hands.type(field(context, 'Folder').and(context.page.getByRole('textbox')), 'f/');
      await hands.press(send(context, 'Move'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['f/a.txt']),
  },
  {
    title: 'Rename a folder',
    prepare: (context) => bucket(context, 'f/a.txt', 'f/g/b.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.choose(actions(context, 'f/'), 'Rename…');
      await hands.type(field(context, 'Name'), 'h');
      await hands.press(send(context, 'Rename'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['h/a.txt', 'h/g/b.txt']),
  },
  {
    title: 'Delete an object',
    prepare: (context) => bucket(context, 'a.txt', 'b.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.choose(actions(context, 'a.txt'), 'Delete…');
      await hands.press(send(context, 'Delete'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['b.txt']),
  },
  {
    title: 'Find an object by the beginning of its name, and look at it',
    prepare: (context) => bucket(context, 'a.txt', 'report-7.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.type(context.page.getByRole('main').getByRole('textbox', { name: /^Filter|^Search/ }), 'rep');
      await hands.press(link(context, 'report-7.txt'));
      await context.page.getByRole('complementary').getByText('text/plain').waitFor();
    },
    check: ({ s3, id }) => s3.send(new HeadObjectCommand({ Bucket: id, Key: 'report-7.txt' })),
  },
  {
    title: 'Go to a key that is known',
    prepare: (context) => bucket(context, 'deep/er/a.txt', 'deep/a.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await link(context, 'deep/').waitFor();
      await hands.press(button(context, 'Type a path or key'));
      await hands.type(field(context, 'Path or key'), 'deep/er/a.txt');
      await hands.enter();
      await context.page.getByRole('complementary', { name: 'Details of a.txt' }).waitFor();
    },
    // The details are those that an S3 client reads under this key. The other object of this name has another ETag.
    async check({ page, s3, id }) {
      const { ETag, ContentLength } = await s3.send(new HeadObjectCommand({ Bucket: id, Key: 'deep/er/a.txt' }));
      const shown = await page.getByRole('complementary', { name: 'Details of a.txt' }).innerText();
      expect(shown).toContain(ETag?.replaceAll('"', ''));
      expect(shown).toContain(`${ContentLength} B`);
    },
  },
  {
    title: 'Tag an object',
    prepare: (context) => bucket(context, 'a.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.press(link(context, 'a.txt'));
      await hands.tab(context.page.getByRole('tab', { name: 'Properties' }));
      await hands.press(button(context, 'Edit tags'));
      await hands.press(button(context, 'Add a tag'));
      await hands.type(field(context, 'Name 1'), 'team');
      await hands.type(field(context, 'Value 1'), 'blue');
      await hands.press(button(context, 'Save'));
    },
    check: async ({ s3, id }) =>
      expect((await s3.send(new GetObjectTaggingCommand({ Bucket: id, Key: 'a.txt' }))).TagSet).toEqual([
        { Key: 'team', Value: 'blue' },
      ]),
  },
  {
    title: 'Make a link that others can download by',
    prepare: (context) => bucket(context, 'a.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.choose(actions(context, 'a.txt'), 'Share…');
      const url = await field(context, 'Link').inputValue();
      expect(await (await fetch(url)).text()).toBe('a.txt');
    },
    check: async (context) => expect(await textOf(context, 'a.txt')).toBe('a.txt'),
  },
  {
    title: 'Restore an older version',
    prepare: (context) => versions(context, 'first', 'second'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.press(context.page.getByRole('switch', { name: 'Versions' }));
      await context.page.getByText('current').first().waitFor();
      await hands.choose(actions(context, 'a.txt').last(), 'Restore this version');
    },
    check: async (context) => expect(await textOf(context, 'a.txt')).toBe('first'),
  },
  {
    title: 'Bring back what was deleted',
    prepare: async (context) => {
      await versions(context, 'kept');
      await context.s3.send(new DeleteObjectCommand({ Bucket: context.id, Key: 'a.txt' }));
    },
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.press(context.page.getByRole('switch', { name: 'Versions' }));
      await hands.choose(actions(context, 'a.txt').first(), 'Remove the delete marker…');
      await hands.press(send(context, 'Remove'));
    },
    check: async (context) => expect(await textOf(context, 'a.txt')).toBe('kept'),
  },
  {
    title: 'Delete several objects at once',
    prepare: (context) => bucket(context, 'a.txt', 'b.txt', 'c.txt'),
    async work(hands, context) {
      await hands.press(link(context, context.id));
      await hands.press(field(context, 'Mark a.txt'));
      await hands.press(field(context, 'Mark b.txt'));
      await hands.press(context.page.getByRole('toolbar').getByRole('button', { name: 'Delete…' }));
      await hands.press(send(context, 'Delete'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['c.txt']),
  },
  {
    title: 'Get an access key for a program',
    async work(hands, context) {
      await hands.press(link(context, 'Access keys'));
      await hands.press(button(context, 'Create access key').first());
      await hands.type(field(context, 'Name'), context.id);
      await hands.press(send(context, 'Create access key'));
      const facts = dialog(context).locator('dd .copy-text > span:first-child');
      await facts.first().waitFor();
      const [accessKeyId = '', secretAccessKey = ''] = await facts.allInnerTexts();
      await hands.press(send(context, 'I have kept it'));
      const client = s3Client({
        s3: context.endpoint,
        accessKey: accessKeyId.trim(),
        secretKey: secretAccessKey.trim(),
      });
      await client.send(new ListBucketsCommand({}));
    },
    check: ({ s3 }) => s3.send(new ListBucketsCommand({})),
  },
];
