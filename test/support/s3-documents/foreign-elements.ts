import * as fc from 'fast-check';
import { newElement, readEditable, writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';

/** Elements of another server, or of a later version of S3, that no program here knows. */
const foreign: fc.Arbitrary<XmlNode> = fc.oneof(
  fc.constantFrom('', '0', 'false', ' a ', 'ä<&').map((text) => newElement('Later', text)),
  fc
    .array(
      fc.constantFrom('1', '2').map((text) => newElement('Item', text)),
      { maxLength: 3 },
    )
    .map((items) => newElement('LaterList', items)),
);

/** Adds foreign elements to the document, at any place that has elements. A document has at most one of a name at a place. */
export function withForeignElements(documents: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return documents.chain((document) => {
    const root = readEditable(document);
    const places = parentsIn(root);
    return fc
      .uniqueArray(fc.tuple(fc.nat({ max: places - 1 }), foreign), {
        maxLength: 6,
        selector: ([place, { name }]) => `${place} ${name}`,
      })
      .map((added) => writeEdited(withAdded(root, added)));
  });
}

/** The number of elements with child elements, of which the root is one. */
function parentsIn(node: XmlNode): number {
  return isParent(node) ? node.children.reduce((sum, one) => sum + parentsIn(one), 1) : 0;
}

function isParent({ children, text }: XmlNode): boolean {
  return children.length > 0 || text === '';
}

function withAdded(root: XmlNode, added: readonly (readonly [place: number, element: XmlNode])[]): XmlNode {
  let place = -1;
  const visit = (node: XmlNode): XmlNode => {
    if (!isParent(node)) return node;
    place += 1;
    const own = added.filter(([of]) => of === place).map(([, element]) => element);
    const children = node.children.map(visit);
    return node.children.length === 0 ? node : { ...node, children: [...children, ...own] };
  };
  return visit(root);
}
