import { admin, reader, suffix } from './start-slapd.ts';

const person = (dn: string, uid: string, more: readonly string[] = []) =>
  [
    `dn: ${dn}`,
    'objectClass: inetOrgPerson',
    `uid: ${uid}`,
    `cn: ${uid}`,
    `sn: ${uid}`,
    `userPassword: ${uid}-password`,
    ...more,
  ].join('\n');

export const ann = `uid=ann,ou=people,${suffix}`;
export const bob = `uid=bob,ou=people,${suffix}`;
/** A comma in the name, letters in both cases, and a plus. */
export const lee = `cn=Lee\\, Ann \\+ Co,ou=People,${suffix}`;
export const readers = `cn=Readers,ou=groups,${suffix}`;
export const writers = `cn=writers,ou=groups,${suffix}`;

const group = (dn: string, cn: string, members: readonly string[]) =>
  [`dn: ${dn}`, 'objectClass: groupOfNames', `cn: ${cn}`, ...members.map((member) => `member: ${member}`)].join('\n');

const unit = (name: string) => `dn: ou=${name},${suffix}\nobjectClass: organizationalUnit\nou: ${name}`;

export const people = [
  `dn: ${suffix}\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example`,
  `dn: ${reader.dn}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: reader\nuserPassword: ${reader.password}`,
  unit('people'),
  unit('guests'),
  unit('groups'),
  person(ann, 'ann'),
  person(bob, 'bob'),
  person(`uid=cat,ou=people,${suffix}`, 'cat'),
  person(`uid=twin,ou=people,${suffix}`, 'twin'),
  person(`uid=twin,ou=guests,${suffix}`, 'twin'),
  person(lee, 'lee', ['cn: Lee, Ann + Co']),
  group(readers, 'Readers', [ann, lee]),
  group(writers, 'writers', [bob]),
  '',
].join('\n\n');

export { admin };
