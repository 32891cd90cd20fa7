import { describe, expect, it } from 'vitest';
import { compressionOf, inputFormat, outputFormat } from './sql-formats.ts';

describe('the format of the data of a query', () => {
  it.each([
    ['a.csv', {}, 'CSV', { FileHeaderInfo: 'USE', RecordDelimiter: '\n', FieldDelimiter: ',' }],
    ['a.csv.gz', {}, 'CSV', { FileHeaderInfo: 'USE' }],
    ['a.json', {}, 'JSON', { Type: 'LINES' }],
    ['a.parquet', {}, 'Parquet', {}],
    [
      'a',
      { csvInput: String.raw`fd=;,FileHeader=USE,rd=\n` },
      'CSV',
      { FieldDelimiter: ';', FileHeaderInfo: 'USE', RecordDelimiter: '\n' },
    ],
    ['a', { csvInput: 'fd=,,fh=NONE' }, 'CSV', { FieldDelimiter: ',', FileHeaderInfo: 'NONE' }],
    ['a', { jsonInput: 'Type=DOCUMENT' }, 'JSON', { Type: 'DOCUMENT' }],
  ])('of %s with %j is %s', (key, options, format, settings) => {
    expect(inputFormat(key, options)).toMatchObject({ format, settings });
  });

  it('is unknown for another key', () => expect(inputFormat('a.txt', {})).toBeUndefined());

  it.each([
    [{ csvInput: 'a=b', jsonInput: 'type=x' }, /not both/],
    [{ csvInput: 'bogus=1' }, /Unknown setting/],
    [{ csvInput: 'nothing' }, /write NAME=VALUE/],
    [{ csvInput: 'fd=;,fd=,' }, /twice/],
  ])('is refused for %j', (options, message) => {
    expect(() => inputFormat('a', options)).toThrow(message);
  });

  it('of the answer is that of the object, JSON with --json, or of the flags', () => {
    expect(outputFormat({}, inputFormat('a.csv', {}), false).format).toBe('CSV');
    expect(outputFormat({}, inputFormat('a.csv', {}), true).format).toBe('JSON');
    expect(outputFormat({}, inputFormat('a.json', {}), false).format).toBe('JSON');
    expect(outputFormat({ csvOutput: '' }, inputFormat('a.json', {}), true).format).toBe('CSV');
    expect(() => outputFormat({ csvOutput: '', jsonOutput: '' }, undefined, false)).toThrow('not both');
  });

  it('has a compression by the end of the key', () => {
    expect(['a.csv.gz', 'a.bz2', 'a.csv'].map((key) => compressionOf(key, {}))).toEqual(['GZIP', 'BZIP2', 'NONE']);
    expect(compressionOf('a.csv', { compression: 'GZIP' })).toBe('GZIP');
  });
});
