import { describeClient } from '../cli/client-suite.ts';
import { startMinio } from '../harness/start-minio.ts';

describeClient('a real MinIO', () => startMinio());
