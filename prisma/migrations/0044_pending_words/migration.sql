-- With a list of pending entries, which enters the words of many texts together, for a third of the time. A search reads the
-- list of all tenants, so it is bounded: a full one takes about half a millisecond.
ALTER INDEX plinth.record_text_words SET (fastupdate = on, gin_pending_list_limit = 1024);
