import { startMinio } from '../harness/start-minio.ts';
import { describeRealS3 } from './real-s3-suite.ts';

describeRealS3('a real MinIO', () => startMinio());
