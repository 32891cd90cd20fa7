import { startMinio } from '../support/server/start-minio.ts';
import { describeRealS3 } from './real-s3-suite.ts';

describeRealS3('a real MinIO', () => startMinio());
