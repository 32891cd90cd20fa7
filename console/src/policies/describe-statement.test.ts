import { beforeAll, describe, expect, it } from 'vitest';
import { describeAction, describeCondition, describeResource } from './describe-statement.ts';
import { loadPageTexts } from '../texts/texts.ts';

beforeAll(loadPageTexts);

describe('statements in words', () => {
  it.each([
    ['*', 'every bucket and object'],
    ['arn:aws:s3:::*', 'every bucket and object'],
    ['arn:aws:s3:::photos', 'the bucket photos'],
    ['arn:aws:s3:::photos/*', 'every object in photos'],
    ['arn:aws:s3:::photos/${jwt:sub}/*', 'photos/${jwt:sub}/*'],
    ['arn:aws:s3:::team-*', 'team-*'],
  ])('reads the resource %s as %s', (pattern, text) => {
    expect(describeResource(pattern)).toBe(text);
  });

  it('leaves unknown actions unchanged', () => {
    expect(describeAction('s3:GetObject*')).toBe('s3:GetObject*');
  });

  it.each([
    [{ operator: 'StringLike', key: 's3:prefix', values: ['home/*', ''] }, 's3:prefix is like home/* or '],
    [{ operator: 'Null', key: 's3:prefix', values: ['true'] }, 's3:prefix is absent'],
    [{ operator: 'IpAddress', key: 'aws:SourceIp', values: ['10.0.0.0/8'] }, 'aws:SourceIp IpAddress 10.0.0.0/8'],
  ])('reads the condition %j', (condition, text) => {
    expect(describeCondition(condition)).toBe(text);
  });
});
