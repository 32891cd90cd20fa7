import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

/** The AWS SDK for a page, which has no modules: its classes are globals there. */
Object.assign(globalThis, { S3Client, Upload });
