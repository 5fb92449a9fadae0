/** The tags of operations: what each noun is, and the guide that explains it. */
export const TAGS: Readonly<Record<string, { description: string; guide: string }>> = {
  Bases: {
    description: 'A base contains record types, records and files. Grants of tokens name bases.',
    guide: 'glossary',
  },
  Environments: {
    description: 'Previews are copies of a base. A promotion applies what changed in a preview to its base.',
    guide: 'environments',
  },
  'Config as code': {
    description: 'The configuration of a base as one file: get it, compare it, apply it to a preview.',
    guide: 'environments',
  },
  'Record types': {
    description: 'A record type has a JSON Schema, which each write of a record is checked against.',
    guide: 'schemas',
  },
  Records: {
    description: 'JSON data under an id, with versions. Filter, search, sort, page and aggregate them.',
    guide: 'query',
  },
  Attachments: { description: 'Files that belong to a record.', guide: 'attachments' },
  Batch: { description: 'Many operations in one transaction.', guide: 'batch' },
  'Relationship types': {
    description: 'Which record types a relationship connects, and how many.',
    guide: 'relationships',
  },
  Relationships: { description: 'Typed links between records.', guide: 'relationships' },
  'File types': {
    description: 'What files of a type may contain, and how many versions are kept.',
    guide: 'files',
  },
  Files: { description: 'Contents at paths, with versions, labels and metadata.', guide: 'files' },
  'S3 credentials': { description: 'Temporary credentials for tools that speak S3.', guide: 's3' },
  History: {
    description: 'Versions, the change log and its stream, revert, and the trash.',
    guide: 'history',
  },
  Deliveries: {
    description: 'What triggers sent and inbound webhooks received, of a whole base.',
    guide: 'triggers',
  },
  Claims: { description: 'Leases on records, to share work between workers.', guide: 'claims' },
  SQL: { description: 'SQL that reads records, and SQL that writes them.', guide: 'sql' },
  Providers: {
    description: 'Tool definitions and tool calls of model providers, as record types and records.',
    guide: 'tools',
  },
  Endpoints: { description: 'A fixed set of MCP tools at an address of its own.', guide: 'endpoints' },
  Toolsets: { description: 'Tools that several endpoints share.', guide: 'endpoints' },
  Seeds: { description: 'Records and relationships that a preview starts with.', guide: 'environments' },
  Actions: { description: 'Run named steps in one transaction.', guide: 'actions' },
  Triggers: { description: 'Send changes of records to a URL, as signed requests.', guide: 'triggers' },
  'Inbound webhooks': {
    description: 'Turn signed payloads of other systems into records.',
    guide: 'inbound-webhooks',
  },
  Vault: {
    description: 'Secrets that the server sends to others. No answer shows their values.',
    guide: 'vault',
  },
  MCP: { description: 'What an MCP address offers.', guide: 'mcp' },
  Diagnostics: { description: 'What is wrong with the server, and what to do.', guide: 'operations' },
  Server: { description: 'The other addresses of a server.', guide: 'operations' },
  Tokens: {
    description: 'API tokens, with grants by base, record type, environment and permission.',
    guide: 'operations',
  },
}
