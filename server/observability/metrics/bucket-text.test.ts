import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Usage } from '../usage/usage.ts';
import { addBucketUsage, addClusterUsage } from './bucket-text.ts';

const photos = {
  bucket: 'photos',
  objects: 3,
  bytes: 5_000,
  versions: 6,
  deleteMarkers: 2,
  uploads: 1,
  uploadBytes: 70,
  sizes: [1, 2],
  keys: [2, 1],
};
const empty = {
  bucket: 'empty',
  objects: 0,
  bytes: 0,
  versions: 0,
  deleteMarkers: 0,
  uploads: 0,
  uploadBytes: 0,
  sizes: [],
  keys: [],
};
const usage: Usage = { ...photos, began: 900, ended: 1_000, answers: 0, unreadable: 0, buckets: [empty, photos] };

async function lines(add: (registry: Registry) => void): Promise<string[]> {
  const registry = new Registry();
  add(registry);
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('the metrics of usage', () => {
  it('have what each bucket holds, of empty ones too', async () => {
    const found = await lines((registry) => addBucketUsage(registry, usage, 3_000));
    expect(found).toEqual(
      expect.arrayContaining([
        'minio_bucket_usage_total_bytes{bucket="photos"} 5000',
        'minio_bucket_usage_object_total{bucket="photos"} 3',
        'minio_bucket_usage_object_total{bucket="empty"} 0',
        'minio_bucket_objects_size_distribution{bucket="photos",range="LESS_THAN_1024_B"} 1',
        'minio_bucket_objects_size_distribution{bucket="photos",range="BETWEEN_1024B_AND_1_MB"} 2',
        'minio_bucket_objects_version_distribution{bucket="photos",range="BETWEEN_2_AND_10"} 1',
        'minio_bucket_objects_version_distribution{bucket="empty",range="UNVERSIONED"} 0',
        'coffer_bucket_incomplete_uploads{bucket="photos"} 1',
        'coffer_bucket_incomplete_upload_bytes{bucket="photos"} 70',
      ]),
    );
  });

  it('have what all hold together', async () => {
    const found = await lines((registry) => addClusterUsage(registry, usage, 3_000));
    expect(found).toEqual(
      expect.arrayContaining([
        'minio_cluster_usage_total_bytes 5000',
        'minio_cluster_usage_object_total 3',
        'minio_cluster_objects_size_distribution{range="BETWEEN_1024_B_AND_64_KB"} 2',
        'minio_cluster_objects_version_distribution{range="SINGLE_VERSION"} 2',
      ]),
    );
  });

  it.each([addBucketUsage, addClusterUsage])('say how old they are: %o', async (add) => {
    expect(await lines((registry) => add(registry, usage, 3_000))).toContain(
      'minio_usage_last_activity_nano_seconds 2000000000',
    );
  });
});
