import { describeClient } from '../cli/client-suite.ts';
import { startMinio } from '../support/server/start-minio.ts';

describeClient('a real MinIO', () => startMinio());
