import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { execSync } from 'node:child_process';
import { watchDowntime } from './downtime.ts';
import { loadByJavaScript, loadByPython } from './load.ts';
const ip = execSync('kubectl get svc demo -o jsonpath={.spec.clusterIP}').toString();
const target = { endpoint: `http://${ip}:9000`, accessKeyId: 'root', secretAccessKey: 'root-password', bucket: 'load' };
await new S3Client({ endpoint: target.endpoint, region: 'us-east-1', forcePathStyle: true, credentials: target }).send(new CreateBucketCommand({ Bucket: 'load' })).catch(() => {});
for (let i = 0; i < 3; i++) {
const down = watchDowntime(`${target.endpoint}/`);
const js = loadByJavaScript(target);
const py = await loadByPython(target);
await new Promise(r => setTimeout(r, 2000));
const t = Date.now(); execSync('kubectl delete pod demo-0 --wait=false'); 
await new Promise(r => setTimeout(r, 500));
execSync('kubectl wait --for=condition=Ready pod/demo-0 --timeout=60s'); console.log('ready after', Date.now() - t);
await new Promise(r => setTimeout(r, 1500));
const f = (x: any) => ({ ...x, failures: x.failures.length, first: [...new Set(x.failures)].slice(0, 3) });
const [a, b] = await Promise.all([js.stop(), py.stop()]);
console.log(await down.stop(), 'js', f(a), 'py', f(b));
}
