/** Files of the desk, and attachments of T-1004. */

import type { Cast } from './desk-cast.ts'
import { BASE } from './desk-schema.ts'

/** Words of the invoice's only page. */
export const INVOICE_TEXT = 'Invoice INV-1183, 149.00 EUR'
const CALL_NOTES = 'Called Ana at 14:10: she sees two charges of 149 EUR on 12 October.\n'

export async function addFiles(cast: Cast): Promise<void> {
  const mara = cast.send('Mara Lindqvist')
  const put = (path: string, content: string | Uint8Array, type: string) =>
    mara('PUT', `/v1/${BASE}/files/doc/${path}`, content, { 'content-type': type })
  await put('policies/refunds.md', refunds('300 €', ''), 'text/markdown')
  await put('policies/refunds.md', refunds('500 €', 'Never promise a date.\n'), 'text/markdown')
  await put('policies/tone.md', '# Tone\n\nShort, friendly, and by name.\n', 'text/markdown')
  for (const number of ['1183', '1184'])
    await put(`invoices/INV-${number}.pdf`, pdfOf(INVOICE_TEXT.replace('1183', number)), 'application/pdf')
}

const refunds = (limit: string, more: string) =>
  `# Refunds\n\nUp to ${limit} an agent may propose a refund. A person approves it.\n${more}`

export async function attachFiles(cast: Cast, path: string): Promise<void> {
  await cast.send('billing-sync')('POST', path, {
    filename: 'INV-1183.pdf',
    content_type: 'application/pdf',
    content_base64: Buffer.from(pdfOf(INVOICE_TEXT)).toString('base64'),
  })
  await cast.send('Jonas Weber')('POST', path, {
    filename: 'call-notes.txt',
    content_type: 'text/plain',
    content: CALL_NOTES,
  })
}

/** A PDF of one page with one line of text, with a table of references that is right. */
function pdfOf(text: string): Uint8Array {
  const page = `BT /F1 18 Tf 72 720 Td (${text}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${page.length} >>\nstream\n${page}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const size = objects.length + 1
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`
  file += `${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  return new TextEncoder().encode(file)
}
