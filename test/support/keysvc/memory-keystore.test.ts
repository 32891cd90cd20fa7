import { keyStoreConformance } from './keystore.conformance.ts';
import { MemoryKeyStore } from './memory-keystore.ts';

keyStoreConformance('memory', async () => new MemoryKeyStore());
