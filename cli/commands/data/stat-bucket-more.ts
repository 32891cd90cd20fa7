import { FormatError } from '../../../protocol/format-error.ts';
import type { RemoteTarget } from '../../config/target.ts';
import { getLifecycle, type LifecycleRuleFields } from '../../s3/lifecycle-document.ts';
import { getNotifications, type NotificationRule } from '../../s3/notifications.ts';
import { getReplication } from '../../s3/replication.ts';
import type { S3Client } from '../../s3/client.ts';
import { readXml } from '../../../protocol/s3/xml-reader.ts';
import { adminOf } from '../admin-client.ts';
import type { Context } from '../context.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** The facts of a bucket that `stat` shows in addition to its own settings: rules of other services, and how much it holds. */
export interface BucketRules {
  /** The region; undefined where the caller may not read it. */
  readonly location: string | undefined;
  readonly lifecycle: readonly LifecycleRuleFields[];
  readonly notifications: readonly NotificationRule[];
  readonly replication: { readonly Rules: readonly unknown[] | null; readonly Role: string };
  /** The counts of the server's last round; undefined where the caller is not an administrator, or the server counts nothing. */
  readonly usage: BucketUsage | undefined;
}

interface BucketUsage {
  readonly size?: number;
  readonly objectsCount?: number;
  readonly versionsCount?: number;
}

/** Reads the rules of a bucket. What is not set, what the server does not have and what the caller may not read is empty. */
export async function bucketRules(context: Context, client: S3Client, target: RemoteTarget): Promise<BucketRules> {
  const { bucket } = target;
  const [location, lifecycle, notifications, replication, usage] = await Promise.all([
    readable(locationOf(client, bucket)),
    readable(getLifecycle(client, bucket)),
    readable(getNotifications(client, bucket)),
    readable(getReplication(client, bucket)),
    readable(usageOf(context, target)),
  ]);
  return {
    location,
    lifecycle: lifecycle?.rules ?? [],
    notifications: notifications ?? [],
    replication: replication ?? { Rules: null, Role: '' },
    usage,
  };
}

async function readable<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    // Servers that are not MinIO may answer the call of the usage by anything.
    if (error instanceof ResponseError || error instanceof FormatError || error instanceof SyntaxError)
      return undefined;
    throw error;
  });
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html */
async function locationOf(client: S3Client, bucket: string): Promise<string> {
  const { text } = await client.text({ method: 'GET', bucket, query: { location: '' } });
  const root = readXml(text, { maxBytes: 65_536, root: 'LocationConstraint' });
  return root.text || 'us-east-1';
}

async function usageOf(context: Context, { aliasName, bucket }: RemoteTarget): Promise<BucketUsage | undefined> {
  const admin = await adminOf(context, aliasName);
  const info = await admin.json<{ readonly bucketsUsageInfo?: Readonly<Record<string, BucketUsage>> | null }>({
    method: 'GET',
    call: 'datausageinfo',
  });
  return info.bucketsUsageInfo?.[bucket];
}

/** The fields of `--json`, as other clients name them. */
export function ruleFields({ location, lifecycle, notifications, replication, usage }: BucketRules) {
  const rules = replication.Rules ?? [];
  return {
    Replication: {
      enabled: rules.length > 0,
      config: { Rules: rules.length === 0 ? null : rules, Role: replication.Role },
    },
    location,
    ilm: lifecycle.length === 0 ? {} : { config: { Rules: lifecycle } },
    notification: {
      config: {
        LambdaConfigs: configsOf(notifications, 'lambda', 'Lambda'),
        TopicConfigs: configsOf(notifications, 'sns', 'Topic'),
        QueueConfigs: configsOf(notifications, 'sqs', 'Queue'),
      },
    },
    Usage: usage,
  };
}

function configsOf(notifications: readonly NotificationRule[], kind: NotificationRule['kind'], destination: string) {
  const configs = notifications
    .filter((rule) => rule.kind === kind)
    .map(({ id, arn, events, prefix, suffix }) => {
      const filters = Object.entries({ prefix, suffix }).filter(([, value]) => value !== '');
      return {
        ID: id,
        Events: events,
        ...(filters.length > 0 && {
          Filter: { S3Key: { FilterRules: filters.map(([Name, Value]) => ({ Name, Value })) } },
        }),
        [destination]: arn,
      };
    });
  return configs.length === 0 ? null : configs;
}
