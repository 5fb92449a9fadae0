-- Each session is read with its pauses, which would otherwise look at all open requests of all bases.
CREATE INDEX review_request_paused ON plinth.review_request (token_id) WHERE state = 'open' AND kind = 'pause';
