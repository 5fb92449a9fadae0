/** Names of the aggregate functions and of the intervals of time, without the shapes, which load zod. */
export const FUNCTIONS = ['count', 'sum', 'avg', 'min', 'max', 'count_distinct'] as const
export const INTERVALS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const
