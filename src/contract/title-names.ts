/** Names of properties that usually hold the title of a record, best first. They count where the type has no `display.title`. */
export const TITLE_NAMES = ['title', 'name', 'subject', 'label', 'headline', 'summary'] as const
