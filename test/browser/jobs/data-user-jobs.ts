import {
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { s3Client } from '../../support/server/s3-client.ts';
import type { Hands } from './hands.ts';
import type { Job, JobContext } from './job.ts';
import { actions, answer, button, dialog, field, link } from './page-parts.ts';
import { bucket, objects, versions } from './prepare.ts';

/** Opens the bucket of the job. */
const open = (hands: Hands, context: JobContext) => hands.press(link(context, context.id));

/** Chooses a file for the open bucket. */
async function upload(hands: Hands, context: JobContext, content: string): Promise<void> {
  const chooser = context.page.waitForEvent('filechooser');
  await hands.choose(button(context, 'Upload'), 'Files…');
  await (await chooser).setFiles(await context.file('up.txt', content));
}

/** The bytes that the browser saves when the user does something. */
async function download({ page }: JobContext, begin: () => Promise<void>): Promise<Buffer> {
  const saved = page.waitForEvent('download');
  await begin();
  return readFile(await (await saved).path());
}

/** Types the folder of a copy or a move. */
const typeFolder = (hands: Hands, context: JobContext, name: string) =>
  hands.type(field(context, 'Folder').and(context.page.getByRole('textbox')), name);

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
      await hands.press(answer(context, 'Create bucket'));
    },
    check: ({ s3, id }) => s3.send(new HeadBucketCommand({ Bucket: id })),
  },
  {
    title: 'Delete an empty bucket',
    prepare: bucket,
    async work(hands, context) {
      await hands.choose(actions(context, context.id), 'Delete bucket…');
      await hands.press(answer(context, 'Delete bucket'));
    },
    check: async ({ s3, id }) =>
      expect((await s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name)).not.toContain(id),
  },
  {
    title: 'Create a folder',
    prepare: bucket,
    async work(hands, context) {
      await open(hands, context);
      await hands.press(button(context, 'Folder…'));
      await hands.type(field(context, 'Name'), 'new');
      await hands.press(answer(context, 'Create folder'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['new/']),
  },
  {
    title: 'Upload a file',
    prepare: objects('a.txt'),
    async work(hands, context) {
      await open(hands, context);
      await upload(hands, context, 'sent');
    },
    check: async (context) => expect(await textOf(context, 'up.txt')).toBe('sent'),
  },
  {
    title: 'Upload a file over another one',
    prepare: objects('up.txt'),
    async work(hands, context) {
      await open(hands, context);
      await upload(hands, context, 'newer');
      await hands.press(button(context, 'Replace'));
    },
    check: async (context) => expect(await textOf(context, 'up.txt')).toBe('newer'),
  },
  {
    title: 'Download an object',
    prepare: objects('a.txt'),
    async work(hands, context) {
      await open(hands, context);
      const saved = await download(context, () => hands.press(button(context, 'Download a.txt')));
      expect(saved.toString()).toBe('a.txt');
    },
    check: async (context) => expect(await textOf(context, 'a.txt')).toBe('a.txt'),
  },
  {
    title: 'Download a folder as a zip',
    prepare: objects('f/a.txt', 'f/b.txt'),
    async work(hands, context) {
      await open(hands, context);
      const saved = await download(context, () => hands.choose(actions(context, 'f/'), 'Download as zip'));
      expect(saved.toString('latin1')).toContain('f/b.txt');
    },
    check: async (context) => expect(await keysOf(context)).toHaveLength(2),
  },
  {
    title: 'Rename an object',
    prepare: objects('a.txt'),
    async work(hands, context) {
      await open(hands, context);
      await hands.choose(actions(context, 'a.txt'), 'Rename…');
      await hands.type(field(context, 'Name'), 'b.txt');
      await hands.press(answer(context, 'Rename'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['b.txt']),
  },
  {
    title: 'Copy an object into a folder',
    prepare: objects('a.txt'),
    async work(hands, context) {
      await open(hands, context);
      await hands.choose(actions(context, 'a.txt'), 'Copy…');
      await typeFolder(hands, context, 'f/');
      await hands.press(answer(context, 'Copy'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['a.txt', 'f/a.txt']),
  },
  {
    title: 'Move an object into a folder',
    prepare: objects('a.txt'),
    async work(hands, context) {
      await open(hands, context);
      await hands.choose(actions(context, 'a.txt'), 'Move…');
      await typeFolder(hands, context, 'f/');
      await hands.press(answer(context, 'Move'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['f/a.txt']),
  },
  {
    title: 'Rename a folder',
    prepare: objects('f/a.txt', 'f/g/b.txt'),
    async work(hands, context) {
      await open(hands, context);
      await hands.choose(actions(context, 'f/'), 'Rename…');
      await hands.type(field(context, 'Name'), 'h');
      await hands.press(answer(context, 'Rename'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['h/a.txt', 'h/g/b.txt']),
  },
  {
    title: 'Delete an object',
    prepare: objects('a.txt', 'b.txt'),
    async work(hands, context) {
      await open(hands, context);
      await hands.choose(actions(context, 'a.txt'), 'Delete…');
      await hands.press(answer(context, 'Delete'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['b.txt']),
  },
  {
    title: 'Find an object by the beginning of its name, and look at it',
    prepare: objects('a.txt', 'report-7.txt'),
    async work(hands, context) {
      await open(hands, context);
      await hands.type(context.page.getByRole('main').getByRole('textbox', { name: /^Filter|^Search/ }), 'rep');
      await hands.press(link(context, 'report-7.txt'));
      await context.page.getByRole('complementary').getByText('text/plain').waitFor();
    },
    check: ({ s3, id }) => s3.send(new HeadObjectCommand({ Bucket: id, Key: 'report-7.txt' })),
  },
  {
    title: 'Go to a key that is known',
    prepare: objects('deep/er/a.txt', 'deep/a.txt'),
    async work(hands, context) {
      await open(hands, context);
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
    prepare: objects('a.txt'),
    async work(hands, context) {
      await open(hands, context);
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
    prepare: objects('a.txt'),
    async work(hands, context) {
      await open(hands, context);
      await hands.choose(actions(context, 'a.txt'), 'Share…');
      const url = await field(context, 'Link').inputValue();
      expect(await (await fetch(url)).text()).toBe('a.txt');
    },
    check: async (context) => expect(await textOf(context, 'a.txt')).toBe('a.txt'),
  },
  {
    title: 'Restore an older version',
    prepare: versions('first', 'second'),
    async work(hands, context) {
      await open(hands, context);
      await hands.press(context.page.getByRole('switch', { name: 'Versions' }));
      await context.page.getByText('current').first().waitFor();
      await hands.choose(actions(context, 'a.txt').last(), 'Restore this version');
    },
    check: async (context) => expect(await textOf(context, 'a.txt')).toBe('first'),
  },
  {
    title: 'Bring back what was deleted',
    prepare: async (context) => {
      await versions('kept')(context);
      await context.s3.send(new DeleteObjectCommand({ Bucket: context.id, Key: 'a.txt' }));
    },
    async work(hands, context) {
      await open(hands, context);
      await hands.press(context.page.getByRole('switch', { name: 'Versions' }));
      await hands.choose(actions(context, 'a.txt').first(), 'Remove the delete marker…');
      await hands.press(answer(context, 'Remove'));
    },
    check: async (context) => expect(await textOf(context, 'a.txt')).toBe('kept'),
  },
  {
    title: 'Delete several objects at once',
    prepare: objects('a.txt', 'b.txt', 'c.txt'),
    async work(hands, context) {
      await open(hands, context);
      await hands.press(field(context, 'Mark a.txt'));
      await hands.press(field(context, 'Mark b.txt'));
      await hands.press(context.page.getByRole('toolbar').getByRole('button', { name: 'Delete…' }));
      await hands.press(answer(context, 'Delete'));
    },
    check: async (context) => expect(await keysOf(context)).toEqual(['c.txt']),
  },
  {
    title: 'Get an access key for a program',
    async work(hands, context) {
      await hands.press(link(context, 'Access keys'));
      await hands.press(button(context, 'Create access key').first());
      await hands.type(field(context, 'Name'), context.id);
      await hands.press(answer(context, 'Create access key'));
      const facts = dialog(context).locator('dd .copy-text > span:first-child');
      await facts.first().waitFor();
      const [accessKeyId = '', secretAccessKey = ''] = await facts.allInnerTexts();
      await hands.press(answer(context, 'I have kept it'));
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
