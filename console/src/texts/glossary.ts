/**
 * The terms of the console in its three languages. A text whose English has the term has the term of its language, and no translation has a
 * word of `refused`. Who translates reads this list first; a new term of S3 or of this server is added here.
 */
interface Term {
  /** Matched as a whole word in the English text, with or without an `s`. */
  readonly en: string;
  /** One of them is in the German text, whatever follows it in the word. */
  readonly de: readonly string[];
  readonly zh: readonly string[];
}

export const glossary: readonly Term[] = [
  { en: 'access key', de: ['Zugriffsschlüssel', 'Zugangsschlüssel'], zh: ['访问密钥'] },
  { en: 'bucket', de: ['Bucket'], zh: ['存储桶'] },
  { en: 'policy', de: ['Richtlinie'], zh: ['策略'] },
  { en: 'delete marker', de: ['Löschmark'], zh: ['删除标记'] },
  { en: 'identity provider', de: ['Identitätsanbieter'], zh: ['身份提供'] },
  { en: 'secret key', de: ['geheime', 'Secret'], zh: ['私有密钥', '密钥'] },
  { en: 'version', de: ['Version'], zh: ['版本', 'Version'] },
  { en: 'versioning', de: ['Versionierung'], zh: ['版本'] },
  { en: 'retention', de: ['Aufbewahrung'], zh: ['保留'] },
  { en: 'legal hold', de: ['Legal Hold'], zh: ['法律', '依法'] },
  { en: 'lifecycle', de: ['Lebenszyklus', 'Lifecycle'], zh: ['生命周期'] },
  { en: 'replication', de: ['Replikation'], zh: ['复制'] },
  { en: 'quota', de: ['Quota', 'Kontingent'], zh: ['配额'] },
  { en: 'session', de: ['Sitzung'], zh: ['会话'] },
  { en: 'group', de: ['Gruppe'], zh: ['组'] },
  { en: 'upload', de: ['Upload', 'hoch'], zh: ['上传'] },
  { en: 'folder', de: ['Ordner'], zh: ['文件夹'] },
  { en: 'key service', de: ['Schlüsseldienst'], zh: ['密钥服务'] },
  { en: 'tier', de: ['Tier', 'Stufe'], zh: ['层'] },
  { en: 'notification', de: ['Benachrichtigung'], zh: ['通知'] },
  { en: 'tag', de: ['Tag'], zh: ['标签'] },
  { en: 'server', de: ['Server'], zh: ['服务器'] },
  { en: 'traffic', de: ['Datenverkehr'], zh: ['流量'] },
  { en: 'batch job', de: ['Batch'], zh: ['批'] },
  { en: 'setting', de: ['Einstellung'], zh: ['设置'] },
];

/** Words that readers stumbled over, with what to write instead. */
export const refused: Readonly<Record<'de' | 'zh', Readonly<Record<string, string>>>> = {
  de: {
    'Was es sagt': 'In Worten (of a policy)',
    Zurückblicken: 'Früherer Stand (rewind)',
    Auslastung: 'Datenverkehr (traffic)',
    Hintergrundarbeit: 'Hintergrundaufgaben (background work)',
    Anhalten: 'Pausieren (pause), Abbrechen (stop an upload)',
    '99 von 100': '99. Perzentil',
    Begründen: 'Zugriff erklären (explain)',
  },
  zh: {},
};
