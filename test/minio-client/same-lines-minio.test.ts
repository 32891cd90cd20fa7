import { startMinio } from '../support/server/start-minio.ts';
import { describeSameLines } from './lines/same-lines-suite.ts';

describeSameLines('MinIO', () => startMinio());
