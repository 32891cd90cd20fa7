import type { buckets as source } from '../en/buckets.ts';
import type { Translated } from '../translated.ts';

export const buckets: Translated<typeof source> = {
  createABucket: 'Einen Bucket anlegen',
  n3To63OfAZ0: '3 bis 63 aus a–z, 0–9, Punkt und Bindestrich. Der Name lässt sich später nicht ändern.',
  keepVersions: 'Versionen behalten',
  eachChangeOfAnObjectKeepsWhat: 'Jede Änderung eines Objekts behält den vorherigen Stand.',
  objectLock: 'Objektsperre',
  versionsCanBeProtectedFromDeletionUntil:
    'Versionen können bis zu einem Datum vor dem Löschen geschützt werden. Sie braucht Versionen und bleibt an.',
  quota: 'Kontingent',
  tags: 'Tags',
  addATag: 'Tag hinzufügen',
  createBucket: 'Bucket anlegen',
  theNameIsTaken:
    'Einen Bucket mit dem Namen {name} gibt es schon. Er kann jemand anderem gehören und fehlt dann in Ihrer Liste. Wählen Sie einen anderen Namen, oder bitten Sie einen Administrator um Zugriff darauf.',
  isDeleted: '{bucket} ist gelöscht.',
  deleteTheBucket: 'Den Bucket {bucket} löschen?',
  onlyAnEmptyBucketCanBeDeleted: 'Nur ein leerer Bucket lässt sich löschen. Sein Name ist danach frei.',
  deleteBucket: 'Bucket löschen',
  toSeeTheEncryptionYouNeedThe:
    'Für die Verschlüsselung brauchen Sie das Recht s3:GetEncryptionConfiguration. Ein Administrator kann es Ihnen geben.',
  notShownToYou: 'für Sie nicht sichtbar',
  newObjectsAreEncryptedUnderTheDefault:
    'Neue Objekte werden mit dem Standardschlüssel des Schlüsseldienstes verschlüsselt.',
  newObjectsAreEncryptedUnderTheKey: 'Neue Objekte werden mit dem Schlüssel {key} des Schlüsseldienstes verschlüsselt.',
  newObjectsAreEncryptedUnderTheDefaultKey: 'Neue Objekte werden mit dem Standardschlüssel des Servers verschlüsselt.',
  theDefaultEncryptionOfIsOff: 'Die Standardverschlüsselung von {name} ist aus.',
  theDefaultEncryptionOfIs: 'Die Standardverschlüsselung von {name} ist {scheme}.',
  encryptionOf: 'Verschlüsselung von {name}',
  defaultEncryption: 'Standardverschlüsselung',
  forNewObjectsThatAskForNothing:
    'Für neue Objekte, die nichts anderes verlangen. Was schon gespeichert ist, bleibt, wie es ist.',
  none: 'Keine',
  encryptionNone: 'Verschlüsselung: keine',
  newObjectsAreNotEncryptedChooseIn:
    'Neue Objekte werden unverschlüsselt gespeichert, wenn ihre Anfrage nichts anderes verlangt. Die Einstellungen des Buckets bieten SSE-S3 und SSE-KMS an.',
  underTheDefaultKeyOfTheServer: 'Mit dem Standardschlüssel des Servers',
  underAKeyOfTheKeyService: 'Mit einem Schlüssel des Schlüsseldienstes, den Sie nennen',
  keyName: 'Name des Schlüssels',
  defaultKey: 'Standardschlüssel',
  theKeysCannotBeListed: 'Die Schlüssel können nicht aufgelistet werden: {message}',
  leaveItEmptyForTheDefaultKey: 'Leer lassen für den Standardschlüssel.',
  noBucketsYet: 'Noch keine Buckets',
  createTheFirstOneHereOrWith: 'Legen Sie den ersten hier an, oder mit einem beliebigen S3-Client.',
  aBucketHoldsObjectsBucketsThatYour:
    'Ein Bucket enthält Objekte. {advice} Buckets, die Ihre Richtlinien vor Ihnen verbergen, werden nicht angezeigt.',
  objectsAndSize: { one: '{objects} Objekt, {size}', other: '{objects} Objekte, {size}' },
  objectsAndSizesAsOf: 'Objekte und Größen vom {counted}',
  defaultEncryptionDialog: 'Standardverschlüsselung…',
  deleteBucketDialog: 'Bucket löschen…',
};
