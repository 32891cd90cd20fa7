import { beforeAll, describe, expect, it } from 'vitest';
import { parseNotification } from '../../../protocol/s3/bucket-notification.ts';
import {
  describeNotification,
  emptyNotification,
  notificationDocument,
  notificationIssue,
} from './notification-rules.ts';
import { loadPageTexts } from '../texts/texts.ts';

beforeAll(loadPageTexts);

const arn = 'arn:minio:sqs:us-east-1:hook:webhook';
const rule = { ...emptyNotification, id: 'images', arn, prefix: 'in/<&>', suffix: '.png' };

describe('notificationDocument', () => {
  it('is what the server reads', () => {
    const events = ['s3:ObjectCreated:*', 's3:ObjectRemoved:Delete'];
    const read = parseNotification(notificationDocument([{ ...rule, events }]), {
      targets: ['hook:webhook'],
      region: 'us-east-1',
    });
    expect(read).toEqual([{ id: 'images', arn, target: 'hook:webhook', events, prefix: 'in/<&>', suffix: '.png' }]);
  });

  it('of no rules switches notifications off', () => {
    expect(parseNotification(notificationDocument([]), { targets: [], region: '' })).toEqual([]);
  });
});

describe('describeNotification', () => {
  it.each([
    [{}, 'When an object whose key begins with “in/<&>” and ends with “.png” is stored, hook:webhook is told.'],
    [{ prefix: '', suffix: '' }, 'When an object is stored, hook:webhook is told.'],
    [{ prefix: '' }, 'When an object whose key ends with “.png” is stored, hook:webhook is told.'],
    [
      { prefix: '', suffix: '', events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*', 's3:ObjectAcl:Put'] },
      'When an object is stored, removed, or s3:ObjectAcl:Put, hook:webhook is told.',
    ],
  ])('of %j', (change, sentence) => {
    expect(describeNotification({ ...rule, ...change })).toBe(sentence);
  });
});

it('needs a target and an event', () => {
  expect(notificationIssue(rule)).toBeUndefined();
  expect(notificationIssue({ ...rule, arn: ' ' })).toContain('target');
  expect(notificationIssue({ ...rule, events: [] })).toContain('event');
});
