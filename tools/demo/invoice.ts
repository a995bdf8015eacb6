import { form } from '../../tests/harness/form.ts';
import { pdf } from '../../tests/harness/pdf.ts';
import { type Body, type DemoContext, must } from './part.ts';
import { print } from './terminal.ts';

/** Texts at one height, each at its distance from the left, in points. */
const row = (y: number, ...texts: [x: number, text: string][]) => texts.map(([x, text]) => ({ x, y, text }));

/** An invoice as a PDF. What is owed stands in it in German notation. */
const invoice = (): Buffer =>
  pdf([
    {
      texts: [
        ...row(60, [50, 'Nordlicht Papier GmbH'], [380, 'INVOICE']),
        ...row(78, [50, 'Speicherstrasse 14, 20457 Hamburg']),
        ...row(130, [50, 'Bill to: Example Ltd.'], [380, 'Invoice number: INV-2041']),
        ...row(150, [50, '12 Example Road, Dublin'], [380, 'Invoice date: 17 November 2026']),
        ...row(230, [50, 'Description'], [330, 'Quantity'], [420, 'Price'], [500, 'Amount']),
        ...row(252, [50, 'Paper A4, 80 g'], [330, '240'], [420, '4,90'], [500, '1.176,00']),
        ...row(272, [50, 'Envelopes C5'], [330, '500'], [420, '0,1175'], [500, '58,75']),
        ...row(340, [420, 'Total: 1.234,75 EUR']),
        ...row(400, [50, 'Payable within 30 days. Thank you.']),
      ],
    },
  ]);

const text = { type: 'string' };
const schema = {
  type: 'object',
  properties: {
    invoice_number: text,
    invoice_date: { type: 'string', format: 'date' },
    supplier: text,
    total: { type: 'number' },
    purchase_order: text,
  },
  required: ['invoice_number', 'total'],
};

/** What the mock model replies. The invoice names no purchase order: a model made it up. */
const reply = {
  invoice_number: 'INV-2041',
  invoice_date: '2026-11-17',
  supplier: 'Nordlicht Papier GmbH',
  total: 1234.75,
  purchase_order: 'PO-7734',
};

const placeOf = (field: Body | undefined): string => {
  const [citation] = field?.citations ?? [];
  return citation
    ? `page ${citation.page}, line ${citation.line}: "${citation.text}"`
    : 'not in the document';
};

/** Reads an invoice: each value with its place in the document, and one that does not stand there. */
export const readInvoice = async ({ api, url }: DemoContext): Promise<void> => {
  const { body, headers } = form([
    { name: 'schema', content: JSON.stringify(schema) },
    { name: 'instructions', content: `mock:${JSON.stringify(reply)}` },
    { name: 'options', content: JSON.stringify({ include_pages: true }) },
    { name: 'file', filename: 'invoice-2041.pdf', content: invoice() },
  ]);
  const read = await must(api.raw('POST', '/document-intelligence/extract', body, { headers }));
  print('invoice', `${read.file.name} was read, with the place where each value stands:`);
  for (const [name, value] of Object.entries(read.data)) {
    print('invoice', `  ${name} = ${value} (${placeOf(read.fields[`/${name}`])})`);
  }
  print('invoice', `see the page next to its values: ${url}/extractions/${read.id}`);
};
