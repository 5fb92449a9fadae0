/** The record type of the demo, as an agent that has looked at the data would define it. */
import world, { type Country } from 'world-countries'

export const TYPE = 'country'
export const SOURCE = 'world-countries'
export type { Country }
/** The package's types describe an ES module; what Node loads is the list itself. */
export const countries = world as unknown as readonly Country[]

const text = (description: string) => ({ type: 'string', description })
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description })
const code = (pattern: string, description: string) => ({ type: 'string', pattern, description })
const mapOf = (value: object, description: string) => ({
  type: 'object',
  additionalProperties: value,
  description,
})

const bothNames = {
  type: 'object',
  required: ['common', 'official'],
  properties: { common: text('The short name'), official: text('The full name') },
}

export const COUNTRY = {
  name: 'Country',
  description: 'A country or territory of ISO 3166-1, with its names in many languages.',
  icon: '🌍',
  json_schema: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'cca2', 'cca3', 'region', 'latlng', 'area'],
    properties: {
      name: {
        ...bothNames,
        properties: {
          ...bothNames.properties,
          native: mapOf(bothNames, 'Its own names, by ISO 639-3 language'),
        },
      },
      cca2: code('^[A-Z]{2}$', 'ISO 3166-1 alpha-2'),
      cca3: code('^[A-Z]{3}$', 'ISO 3166-1 alpha-3; also the id of the record'),
      ccn3: code('^(\\d{3})?$', 'ISO 3166-1 numeric'),
      cioc: code('^([A-Z]{3})?$', 'International Olympic Committee'),
      tld: texts('Top-level domains'),
      flag: text('The flag, as an emoji'),
      independent: { type: ['boolean', 'null'], description: 'null where that is disputed' },
      status: { enum: ['officially-assigned', 'user-assigned'], description: 'Of its ISO 3166-1 codes' },
      unMember: { type: 'boolean', description: 'A member of the United Nations' },
      unRegionalGroup: text('Its group there; empty for none'),
      capital: texts('Capitals, the first one first'),
      altSpellings: texts('Other spellings of its name'),
      region: { enum: ['Africa', 'Americas', 'Antarctic', 'Asia', 'Europe', 'Oceania'] },
      subregion: text('The part of the region'),
      borders: texts('Its neighbours on land, by cca3'),
      landlocked: { type: 'boolean' },
      area: { type: 'number', description: 'Land and water in km²' },
      latlng: {
        type: 'array',
        items: { type: 'number', minimum: -180, maximum: 180 },
        minItems: 2,
        maxItems: 2,
        description: 'Latitude and longitude of its middle, in degrees',
      },
      currencies: mapOf(
        { type: 'object', properties: { name: text('In English'), symbol: text('As it is written') } },
        'By ISO 4217 code',
      ),
      idd: {
        type: 'object',
        properties: { root: text('The first digits'), suffixes: texts('What follows them') },
        description: 'International direct dialling',
      },
      languages: mapOf({ type: 'string' }, 'English names of its official languages, by ISO 639-3 code'),
      translations: mapOf(bothNames, 'Its names in other languages, by ISO 639-3 code'),
      demonyms: mapOf(
        { type: 'object', properties: { f: text('Female'), m: text('Male') } },
        'What people from there are called, by ISO 639-3 language',
      ),
    },
  },
}
