# Two commands are all it takes: `make run` and `make test`. Everything they need, they install.
#
#   make search QUERY="how is the cache sized?" K=5
#   make search_dataset DATASET=data/datasets/UnansweredQuestions/vllm_docs.json
#
# QUERY reaches the recipes through the environment, so that it may hold any character.

SHELL := /bin/sh
.DEFAULT_GOAL := help

UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := $(UV) run --quiet
RAG := $(RUN) python -m src

CORPUS ?= data/raw/vllm-0.10.1
CHUNK ?= 2000
K ?= 10
SET ?= vllm_docs
DATASET ?= data/datasets/UnansweredQuestions/$(SET).json
TRUTH ?= data/datasets/AnsweredQuestions/$(notdir $(DATASET))
RESULTS ?= data/output/search_results/$(notdir $(DATASET))
export QUERY

# On a terminal a missing question is asked for; elsewhere make says what to type.
ASK = if [ -z "$$QUERY" ] && [ -t 0 ]; then printf 'question: '; IFS= read -r QUERY; fi; \
  if [ -z "$$QUERY" ]; then echo 'say what to look for: make $@ QUERY="…"' >&2; exit 2; fi

.PHONY: help setup run pipeline corpus index search search_dataset evaluate answer answer_dataset \
        moulinette serve demo datasets test lint check format bench tables lock clean

help: ## list the targets
	@sed -n 's/^\([a-z_]*\):[^#]*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
	  awk -F'|' '{ printf "%-24s%s\n", $$1, $$2 }'

$(UV):
	python3 -m venv .uv
	.uv/bin/python -m pip install --quiet uv

setup: $(UV) ## install what the project needs into .venv
	@$(UV) sync --quiet

run: setup ## the whole pipeline on real input: corpus, index, search, evaluate, answer
	@if $(RAG) corpus; then \
	  $(MAKE) --no-print-directory pipeline SETS="vllm_docs vllm_code" \
	    QUERY="Which HTTP endpoint loads a LoRA adapter while the server runs?"; \
	else \
	  echo "The reference corpus cannot be had: running on the bundled sample instead."; \
	  $(MAKE) --no-print-directory pipeline CORPUS=data/sample SETS=sample \
	    QUERY="How long is the warranty of a Limpet 3?"; \
	fi

SETS ?= sample
pipeline: QUERY ?= How long is the warranty of a Limpet 3?
pipeline: setup
	$(RAG) index --max_chunk_size "$(CHUNK)" --target_dir "$(CORPUS)"
	$(RAG) search "$$QUERY" --k 3
	@for set in $(SETS); do \
	  $(MAKE) --no-print-directory search_dataset evaluate moulinette SET=$$set || exit 1; \
	done
	$(RAG) answer "$$QUERY" --k "$(K)"
	@for set in $(SETS); do $(MAKE) --no-print-directory answer_dataset SET=$$set || exit 1; done

corpus: setup ## download and unpack vLLM 0.10.1
	@$(RAG) corpus

index: setup ## build or refresh the index of CORPUS
	@$(RAG) index --max_chunk_size "$(CHUNK)" --target_dir "$(CORPUS)"

search: setup ## the K best passages for QUERY
	@$(ASK); $(RAG) search --query="$$QUERY" --k "$(K)"

search_dataset: setup ## search every question of DATASET
	@$(RAG) search_dataset --dataset_path "$(DATASET)" --k "$(K)"

evaluate: setup ## recall, MRR and nDCG of RESULTS against TRUTH
	@$(RAG) evaluate --student_search_results_path "$(RESULTS)" --dataset_path "$(TRUTH)" --k "$(K)"

moulinette: setup ## the same by the independent evaluator
	@PYTHON="$$($(RUN) python -c 'import sys; print(sys.executable)')" \
	  moulinette_pkg/moulinette-ubuntu evaluate_student_search_results "$(RESULTS)" "$(TRUTH)" --k "$(K)"

answer: setup ## answer QUERY from the passages found
	@$(ASK); $(RAG) answer --query="$$QUERY" --k "$(K)"

answer_dataset: setup ## add an answer to every entry of RESULTS
	@$(RAG) answer_dataset --student_search_results_path "$(RESULTS)"

serve: setup ## HTTP API and web page
	@$(RAG) serve

demo: setup ## a walk through a running server, each promise checked and measured
	@$(RUN) python benchmarks/demo.py

datasets: setup ## locate the quotations of data/datasets/quotes again
	@$(RUN) python benchmarks/quote_spans.py

test: setup ## run the tests
	@$(RUN) python -m pytest tests moulinette_pkg/tests

lint: setup ## formatting, lint, types, import direction
	@$(RUN) ruff format --check src tests benchmarks moulinette_pkg .ci
	@$(RUN) ruff check src tests benchmarks moulinette_pkg .ci
	@$(RUN) mypy
	@$(RUN) lint-imports

check: lint test ## everything a change must pass

format: setup ## rewrite the formatting
	@$(RUN) ruff format src tests benchmarks moulinette_pkg .ci
	@$(RUN) ruff check --fix src tests benchmarks moulinette_pkg .ci

bench: setup ## measure retrieval quality and speed on the reference corpus
	@$(RAG) corpus
	@$(RUN) python benchmarks/quality.py
	@$(RUN) python benchmarks/ablation.py
	@$(RUN) python benchmarks/speed.py

tables: setup ## write the README's tables from the saved measurements
	@$(RUN) python benchmarks/readme_tables.py

lock: $(UV) ## renew the pinned versions in pyproject.toml
	@$(UV) run --no-project .ci/lock.py "$(UV)"

clean: ## remove what the project built; corpora and results stay
	@rm -rf data/processed dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .import_linter_cache
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
