import { expect, it } from 'vitest';
import { each, xml, xmlDocument } from './xml.ts';

it('writes elements in elements', () => {
  const tags = xml('TagSet', [xml('Tag', [xml('Key', 'a'), xml('Value', 1)])]);
  expect(xmlDocument('Tagging', [tags])).toBe(
    '<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tagging>',
  );
});

it('escapes texts', () => {
  expect(xml('Key', '</Key>&\n"').markup).toBe('<Key>&#60;/Key&#62;&#38;&#10;&#34;</Key>');
});

it('repeats an element for each text', () => {
  expect(xml('Rule', each('Method', ['GET', 'PUT'])).markup).toBe(
    '<Rule><Method>GET</Method><Method>PUT</Method></Rule>',
  );
});
